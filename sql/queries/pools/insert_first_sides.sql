-- The side of token0 of each pool with a number above $above.
insert into pool_side (chain_id, token, block_number, log_index, pool_no, other)
select chain_id, token0, block_number, log_index, pool_no, token1
from pool
where pool_no > $above
