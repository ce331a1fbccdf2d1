-- One row: the open batch of a chain; none if there is none.
select batch from batch where chain_id = :chain_id and is_closed = 0
