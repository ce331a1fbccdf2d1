-- One row, or none: the batch of $chain_id that takes final rows.
select batch from batch where chain_id = $chain_id and is_closed = 0
