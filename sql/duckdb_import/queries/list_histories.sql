-- One row per token whose past has been fetched in part.
select rowid, token_id, is_whole, requests, logs
from history
where rowid > $above and rowid <= $up_to
order by rowid
