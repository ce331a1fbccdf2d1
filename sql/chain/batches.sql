-- name: find_open
-- One row, or none: the open batch of $chain_id, which takes final rows.
select batch from batch where chain_id = $chain_id and is_closed = 0

-- name: insert_batch
-- One row: a new open batch of $chain_id.
insert into batch (chain_id) values ($chain_id) returning batch
