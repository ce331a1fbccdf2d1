-- One row per pool of $chain_id that was made at $number or above: its tokens and place.
select pool_no, token0, token1, block_number, log_index
from pool
where chain_id = $chain_id and block_number >= $number
