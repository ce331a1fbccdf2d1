-- One row per token whose creation was looked up.
select rowid, chain_id, token, creator, block_number, tx_hash
from creator
where rowid > $above and rowid <= $up_to
order by rowid
