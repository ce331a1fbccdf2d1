-- One row per launch.
select rowid, chain_id, token, slug, emitter, creator, tx_hash, block_number, log_index
from launch
where rowid > $above and rowid <= $up_to
order by rowid
