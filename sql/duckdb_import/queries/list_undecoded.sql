-- One row per undecoded log.
select rowid, chain_id, block_number, log_index, address, topic0, topic_count, data
from undecoded
where rowid > $above and rowid <= $up_to
order by rowid
