-- One row per pool of $chain_id that is a contract of its own and was created in block $number or later:
-- the first bytes of its address, and the block.
select substr(pool, 1, 8), block_number
from pool
where chain_id = $chain_id and block_number >= $number and pool_id is null
order by block_number
