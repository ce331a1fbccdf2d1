-- name: delete_from
-- Deletes the trades of $chain_id from $number on.
delete from trade where chain_id = $chain_id and block_number >= $number

-- name: delete_hot
-- Deletes one trade that has become final.
delete from trade where chain_id = ? and block_number = ? and log_index = ?

-- name: delete_old
-- Deletes $at_most of the final trades of $chain_id kept for prices that are older than the
-- newest stored block by more than $kept_s.
delete from recent_trade
where (pool_no, block_number, log_index) in (
    select pool_no, block_number, log_index
    from recent_trade
    where
        chain_id = $chain_id
        and time_s < (
            select time_s from block where chain_id = $chain_id order by number desc limit 1
        ) - $kept_s
    order by time_s
    limit $at_most
)

-- name: insert_final
-- Queues one final trade for the lake, unless it is queued already: a range may be filled twice.
insert into final_trade (
    batch, block_number, log_index, pool_no, time_s, amount0, amount1, trader, tx_hash
)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict do nothing

-- name: insert_recent
-- Stores one final trade for prices.
insert into recent_trade (
    chain_id, block_number, log_index, pool_no, time_s, amount0, amount1
)
values (?, ?, ?, ?, ?, ?, ?)
on conflict (pool_no, block_number, log_index) do update set
    chain_id = excluded.chain_id,
    time_s = excluded.time_s,
    amount0 = excluded.amount0,
    amount1 = excluded.amount1

-- name: insert_trade
-- Stores one trade unless it is stored.
insert into trade (
    chain_id, block_number, log_index, pool_no, time_s, amount0, amount1, trader, tx_hash
)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict do nothing

-- name: list_final
-- One row per trade among the first $at_most of $chain_id up to block $final.
select block_number, log_index, pool_no, time_s, amount0, amount1, trader, tx_hash
from trade
where chain_id = $chain_id and block_number <= $final
order by block_number, log_index
limit $at_most

-- name: list_newest
-- One row per trade in the pool $pool_key of $chain_id from $from_block on, newest first; base
-- is the unsigned amount of $token, other that of the other side.
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

-- name: trim_recent
-- Deletes all but the newest $kept of the final trades of the pool $pool_no kept for prices.
delete from recent_trade
where pool_no = $pool_no and (block_number, log_index) <= (
    select block_number, log_index
    from recent_trade
    where pool_no = $pool_no
    order by block_number desc, log_index desc
    limit 1 offset $kept
)
