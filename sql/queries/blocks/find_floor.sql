-- One row: the lowest block of $chain_id that following may unwind.
select number from window_floor where chain_id = $chain_id
