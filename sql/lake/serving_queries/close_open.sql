-- Closes the open batch of a chain; one row with its number, none if there was none.
update batch set is_closed = 1 where chain_id = :chain_id and is_closed = 0 returning batch
