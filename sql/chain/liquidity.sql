-- name: delete_from
-- Deletes the events of $chain_id from block $number on.
delete from liquidity_event where chain_id = $chain_id and block_number >= $number

-- name: delete_old
-- Deletes the oldest $at_most events of $chain_id in blocks below $below.
delete from liquidity_event
where chain_id = $chain_id and (block_number, log_index) in (
    select block_number, log_index
    from liquidity_event
    where chain_id = $chain_id and block_number < $below
    order by block_number, log_index
    limit $at_most
)

-- name: insert_event
-- Stores one event of a pool unless it is stored.
insert into liquidity_event (chain_id, block_number, log_index, pool_no, topics, data)
values (?, ?, ?, ?, ?, ?)
on conflict do nothing

-- name: list_of_pool
-- One row per event of the pool $pool_no up to block $last, in chain order.
select pool.pool as emitter, event.block_number, event.topics, event.data
from liquidity_event event
join pool on pool.pool_no = event.pool_no
where event.pool_no = $pool_no and event.block_number <= $last
order by event.block_number, event.log_index

-- name: measure_pool
-- One row: number and bytes of the first $at_most events of the pool $pool_no.
select count(*) as events, coalesce(sum(size), 0) as size
from (
    select length(topics) + length(data) as size
    from liquidity_event
    where pool_no = $pool_no
    order by block_number, log_index
    limit $at_most
) as known
