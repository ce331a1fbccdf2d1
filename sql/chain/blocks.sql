-- name: delete_below
-- Deletes the stored blocks of $chain_id below $number.
delete from block where chain_id = $chain_id and number < $number

-- name: delete_from
-- Deletes the stored blocks of $chain_id from $number on.
delete from block where chain_id = $chain_id and number >= $number

-- name: delete_times_from
-- Deletes the times of blocks of $chain_id from $number on.
delete from block_time where chain_id = $chain_id and number >= $number

-- name: find_checkpoint
-- One row, or none: the checkpoint of a stream.
select chain_id, stream, number, hash
from checkpoint
where chain_id = $chain_id and stream = $stream

-- name: find_floor
-- One row: the lowest block of $chain_id that the follower may unwind.
select number from window_floor where chain_id = $chain_id

-- name: find_from
-- One row, or none: the lowest stored block of $chain_id from $number on.
select chain_id, number, hash, parent_hash, time_s, log_count
from block
where chain_id = $chain_id and number >= $number
order by number
limit 1

-- name: insert_time
-- Stores the time of one block unless it is stored.
insert into block_time (chain_id, number, time_s) values (?, ?, ?)
on conflict do nothing

-- name: list_checkpoints
-- One row per stream of $chain_id, by name: its checkpoint.
select chain_id, stream, number, hash
from checkpoint
where chain_id = $chain_id
order by stream

-- name: list_window
-- One row per stored block of $chain_id from $first to $last, lowest first.
select chain_id, number, hash, parent_hash, time_s, log_count
from block
where chain_id = $chain_id and number between $first and $last
order by number

-- name: raise_floor
-- Sets $number as the lowest block of $chain_id that the follower may unwind.
insert into window_floor (chain_id, number) values ($chain_id, $number)
on conflict (chain_id) do update set number = excluded.number
where window_floor.number < excluded.number

-- name: reset_checkpoints
-- Sets every stream of $chain_id at or above $number back to the block below, with that block's
-- hash if it is stored.
update checkpoint
set
    number = $number - 1,
    hash = (
        select block.hash from block
        where block.chain_id = $chain_id and block.number = $number - 1
    )
where chain_id = $chain_id and number >= $number
