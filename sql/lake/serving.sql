-- name: close_open
-- One row, or none: the number of the open batch of a chain, which is closed now.
update batch set is_closed = 1 where chain_id = :chain_id and is_closed = 0 returning batch

-- name: confirm_closed
-- Marks a closed batch as closed again, so that the commit syncs all before it to disk.
update batch set is_closed = 1 where batch = :batch and is_closed = 1 returning batch

-- name: count_launches
-- One row: the number of launches of a chain below a block, or of all if :below is null.
select count(*) as launches from launch
where chain_id = :chain_id and (:below is null or block_number < :below)

-- name: count_launches postgres
-- One row: the number of launches of a chain below a block, or of all if :below is null.
select count(*) as launches from launch
where chain_id = :chain_id and (:below::bigint is null or block_number < :below)

-- name: count_rows
-- One row: the number of rows of a batch, counted up to :at_most of each kind.
select
    (select count(*) from (
        select 1 from final_transfer where batch = :batch limit :at_most
    )) as transfers,
    (select count(*) from (
        select 1 from final_trade where batch = :batch limit :at_most
    )) as trades,
    (select count(*) from (
        select 1 from final_undecoded where batch = :batch limit :at_most
    )) as undecoded

-- name: count_rows postgres
-- One row: the number of rows of a batch, counted up to :at_most of each kind; -1: all.
select
    (select count(*) from (
        select 1 from final_transfer where batch = :batch limit nullif(:at_most::bigint, -1)
    ) as counted) as transfers,
    (select count(*) from (
        select 1 from final_trade where batch = :batch limit nullif(:at_most::bigint, -1)
    ) as counted) as trades,
    (select count(*) from (
        select 1 from final_undecoded where batch = :batch limit nullif(:at_most::bigint, -1)
    ) as counted) as undecoded

-- name: delete_batch
-- Deletes a closed batch without rows.
delete from batch
where batch = :batch and is_closed = 1
and not exists (select 1 from final_transfer where batch = :batch)
and not exists (select 1 from final_trade where batch = :batch)
and not exists (select 1 from final_undecoded where batch = :batch)

-- name: delete_trades
-- Deletes the first rows of a batch in the order of their key, :at_most of them.
delete from final_trade
where batch = :batch
and (block_number, log_index) <= (
    select block_number, log_index from (
        select block_number, log_index from final_trade
        where batch = :batch
        order by block_number, log_index
        limit :at_most
    ) as first_rows
    order by block_number desc, log_index desc
    limit 1
)

-- name: delete_transfers
-- Deletes the first rows of a batch in the order of their key, :at_most of them.
delete from final_transfer
where batch = :batch
and (block_number, log_index) <= (
    select block_number, log_index from (
        select block_number, log_index from final_transfer
        where batch = :batch
        order by block_number, log_index
        limit :at_most
    ) as first_rows
    order by block_number desc, log_index desc
    limit 1
)

-- name: delete_undecoded
-- Deletes the first rows of a batch in the order of their key, :at_most of them.
delete from final_undecoded
where batch = :batch
and (block_number, log_index) <= (
    select block_number, log_index from (
        select block_number, log_index from final_undecoded
        where batch = :batch
        order by block_number, log_index
        limit :at_most
    ) as first_rows
    order by block_number desc, log_index desc
    limit 1
)

-- name: find_first_moving_block
-- One row: the first block of a chain that may still be reorganised away; null: none is known.
select min(number) as number from block where chain_id = :chain_id

-- name: find_last_final_pool
-- One row: the number before the first pool of a chain that may still be reorganised away;
-- without such a pool, the newest pool's.
select coalesce(
    (
        select min(pool_no) - 1 from pool
        where chain_id = :chain_id
        and block_number >= (select min(number) from block where chain_id = :chain_id)
    ),
    (select max(pool_no) from pool)
) as pool_no

-- name: find_open
-- One row, or none: the open batch of a chain.
select batch from batch where chain_id = :chain_id and is_closed = 0

-- name: insert_open
-- Opens a batch of a chain.
insert into batch (chain_id) values (:chain_id)

-- name: list_chains
-- One row per chain that has a batch.
select distinct chain_id from batch order by chain_id

-- name: list_closed
-- One row per closed batch of a chain, or of all chains if :chain_id is null, oldest first.
select batch, chain_id from batch
where is_closed = 1 and (:chain_id is null or chain_id = :chain_id)
order by batch

-- name: list_closed postgres
-- One row per closed batch of a chain, or of all chains if :chain_id is null, oldest first.
select batch, chain_id from batch
where is_closed = 1 and (:chain_id::bigint is null or chain_id = :chain_id)
order by batch

-- name: list_numbers
-- One row per transfer of a batch: its numbers, as bytes.
select amount, sender, recipient from final_transfer where batch = :batch

-- name: list_transfer_keys
-- One row per transfer of a chain in a range of blocks that is not final or is queued for the
-- lake.
select block_number, log_index from transfer
where chain_id = :chain_id and block_number between :from_block and :to_block
union all
select final_transfer.block_number, final_transfer.log_index
from batch
join final_transfer on final_transfer.batch = batch.batch
where batch.chain_id = :chain_id
and final_transfer.block_number between :from_block and :to_block

-- name: list_waiting_trade
-- One row per final trade of a chain in a range of blocks that is queued for the lake.
select final_trade.block_number, final_trade.log_index
from batch
join final_trade on final_trade.batch = batch.batch
where batch.chain_id = :chain_id
and final_trade.block_number between :from_block and :to_block

-- name: list_waiting_undecoded
-- One row per final undecoded log of a chain in a range of blocks that is queued for the lake.
select final_undecoded.block_number, final_undecoded.log_index
from batch
join final_undecoded on final_undecoded.batch = batch.batch
where batch.chain_id = :chain_id
and final_undecoded.block_number between :from_block and :to_block
