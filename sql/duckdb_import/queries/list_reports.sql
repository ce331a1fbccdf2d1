-- One row per report: the token it is on.
select rowid, token_id
from report
where rowid > $above and rowid <= $up_to
order by rowid
