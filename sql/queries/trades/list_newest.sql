-- One row per trade in the pools $pool_keys of $chain_id from $from_block on, newest first; base is
-- the amount of $token, other that of the other side, both without sign.
select
    trade.chain_id, trade.block_number, trade.log_index, trade.time_s, trade.pool_key,
    abs(case when pool.token0 = $token then trade.amount0 else trade.amount1 end) as base,
    abs(case when pool.token0 = $token then trade.amount1 else trade.amount0 end) as other
from trade
join pool on pool.chain_id = trade.chain_id and pool.pool_key = trade.pool_key
where
    trade.chain_id = $chain_id and trade.block_number >= $from_block
    and list_contains($pool_keys, trade.pool_key)
    and (pool.token0 = $token or pool.token1 = $token)
order by trade.block_number desc, trade.log_index desc
limit $at_most
