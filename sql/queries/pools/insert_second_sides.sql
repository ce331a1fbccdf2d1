-- The side of token1 of each pool with a number above $above, unless both are the same token.
insert into pool_side (chain_id, token, block_number, log_index, pool_no, other)
select chain_id, token1, block_number, log_index, pool_no, token0
from pool
where pool_no > $above and token1 <> token0
