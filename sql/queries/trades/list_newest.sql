-- One row per trade in the pool $pool_key of $chain_id from $from_block on, newest first; base is the
-- amount of $token, other that of the other side, both without sign.
with known as (
    select trade.block_number, trade.log_index, trade.time_s, trade.amount0, trade.amount1,
        pool.token0
    from pool
    join trade on trade.pool_no = pool.pool_no
    where pool.chain_id = $chain_id and pool.pool_key = $pool_key
    union all
    select recent.block_number, recent.log_index, recent.time_s, recent.amount0, recent.amount1,
        pool.token0
    from pool
    join recent_trade recent on recent.pool_no = pool.pool_no
    where pool.chain_id = $chain_id and pool.pool_key = $pool_key
)
select
    $chain_id as chain_id, block_number, log_index, time_s, $pool_key as pool_key,
    abs(case when token0 = $token then amount0 else amount1 end) as base,
    abs(case when token0 = $token then amount1 else amount0 end) as other
from known
where block_number >= $from_block
order by block_number desc, log_index desc
limit $at_most
