-- As for SQLite, of the chain $chain_id only: others may store pools at the same time.
insert into pool_side (chain_id, token, block_number, log_index, pool_no, other)
select chain_id, token0, block_number, log_index, pool_no, token1
from pool
where pool_no > $above and chain_id = $chain_id
