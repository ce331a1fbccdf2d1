-- One row: when a batch of a chain came last, in Unix seconds; null: never.
select max(moved_at_s) as moved_at_s from lake.moved where chain_id = $chain_id
