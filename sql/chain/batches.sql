-- name: find_open
-- One row, or none: the batch of $chain_id that takes final rows.
select batch from batch where chain_id = $chain_id and is_closed = 0

-- name: insert_batch
-- One row: a new batch of $chain_id that takes final rows.
insert into batch (chain_id) values ($chain_id) returning batch
