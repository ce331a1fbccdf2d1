-- name: delete_from
-- Deletes the trades of $chain_id from block $number on.
delete from early_trade where chain_id = $chain_id and block_number >= $number

-- name: delete_late_transfers
-- Deletes the transfers of the token $token_id but the first $kept.
delete from early_transfer
where token_id = $token_id and (block_number, log_index) >= (
    select block_number, log_index
    from early_transfer
    where token_id = $token_id
    order by block_number, log_index
    limit 1 offset $kept
)

-- name: delete_of_token
-- Deletes the trades of the token $token_id.
delete from early_trade where token_id = $token_id

-- name: delete_old
-- Deletes $at_most trades of $chain_id in blocks below $below.
delete from early_trade
where (token_id, block_number, log_index) in (
    select token_id, block_number, log_index
    from early_trade
    where chain_id = $chain_id and block_number < $below
    order by block_number
    limit $at_most
)

-- name: delete_old_transfers
-- Deletes $at_most transfers of $chain_id in blocks below $below.
delete from early_transfer
where (token_id, block_number, log_index) in (
    select token_id, block_number, log_index
    from early_transfer
    where chain_id = $chain_id and block_number < $below
    order by block_number
    limit $at_most
)

-- name: delete_transfers_from
-- Deletes the transfers of $chain_id from block $number on.
delete from early_transfer where chain_id = $chain_id and block_number >= $number

-- name: delete_transfers_of_token
-- Deletes the transfers of the token $token_id.
delete from early_transfer where token_id = $token_id

-- name: find_account
-- One row: stored trades, and received transfers, of an account and a token, each counted up to a
-- limit. Parameters: token, account and limit, twice.
select
    (
        select count(*)
        from (select 1 from early_trade where token_id = ? and trader = ? limit ?) as known
    ) as trades,
    (
        select count(*)
        from (select 1 from early_transfer where token_id = ? and recipient = ? limit ?) as known
    ) as receipts

-- name: find_state
-- One row: stored trades and transfers of a token, each counted up to a limit, and the time of the
-- first trade; NULL without one. Parameters: token and limit, twice, and the token.
select
    (
        select count(*) from (select 1 from early_trade where token_id = ? limit ?) as known
    ) as trades,
    (
        select count(*) from (select 1 from early_transfer where token_id = ? limit ?) as known
    ) as transfers,
    (
        select time_s from early_trade
        where token_id = ?
        order by block_number, log_index
        limit 1
    ) as first_time_s

-- name: insert_trade
-- Stores one trade unless it is stored.
insert into early_trade (
    chain_id, block_number, log_index, time_s, token_id, is_sale, trader, tx_hash, amount
)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict do nothing

-- name: insert_transfer
-- Stores one transfer unless it is stored.
insert into early_transfer (
    chain_id, block_number, log_index, token_id, sender, recipient, amount, tx_hash, known_block
)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict do nothing

-- name: list_pool_contracts
-- One row per pool among the first of a token: the contract that emits its events. Chain, token and
-- the number of pools are the parameters.
select pool.pool
from (
    select pool_no from pool_side
    where chain_id = ? and token = ?
    order by block_number, log_index
    limit ?
) as known
join pool on pool.pool_no = known.pool_no

-- name: list_trades
-- One row per trade among the first $at_most of the token $token_id, in chain order.
select block_number, log_index, time_s, token_id, is_sale, trader, tx_hash, amount
from early_trade
where token_id = $token_id
order by block_number, log_index
limit $at_most

-- name: list_transfers
-- One row per transfer among the first $at_most of the token $token_id, in chain order.
select block_number, log_index, token_id, sender, recipient, amount, tx_hash, known_block
from early_transfer
where token_id = $token_id
order by block_number, log_index
limit $at_most
