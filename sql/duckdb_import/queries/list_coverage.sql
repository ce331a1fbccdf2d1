-- One row per gapless range.
select rowid, chain_id, subject, from_block, to_block
from coverage
where rowid > $above and rowid <= $up_to
order by rowid
