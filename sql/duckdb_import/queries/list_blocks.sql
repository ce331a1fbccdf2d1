-- One row per held block.
select rowid, chain_id, number, hash, parent_hash, time_s
from block
where rowid > $above and rowid <= $up_to
order by rowid
