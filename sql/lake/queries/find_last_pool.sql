-- One row: the newest pool of a chain that the lake has; 0: none.
select coalesce(max(pool_no), 0) as pool_no from lake.pool where chain_id = $chain_id
