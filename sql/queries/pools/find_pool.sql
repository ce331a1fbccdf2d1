-- One row, or none: the pool $pool_key of $chain_id, as far as a swap is checked against it.
select pool_no, pool, kind, token0, token1, block_number, log_index
from pool
where chain_id = $chain_id and pool_key = $pool_key
