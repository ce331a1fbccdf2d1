-- One row, or none: the pool $pool_key of $chain_id, if it was announced after log $log_index of block
-- $block_number: its tokens and place.
select pool_no, token0, token1, block_number, log_index
from pool
where
    chain_id = $chain_id
    and pool_key = $pool_key
    and (block_number, log_index) > ($block_number, $log_index)
