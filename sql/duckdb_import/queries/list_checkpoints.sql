-- One row per stream: how far it has come.
select rowid, chain_id, stream, number, hash
from checkpoint
where rowid > $above and rowid <= $up_to
order by rowid
