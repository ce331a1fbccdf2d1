-- Deletes the trades of a chain up to a time.
delete from lake.trade where chain_id = $chain_id and time_s <= $to_s
