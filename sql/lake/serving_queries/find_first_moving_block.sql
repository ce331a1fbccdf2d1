-- One row: the first block of a chain that may still be reorganised away; null: none is known.
select min(number) as number from block where chain_id = :chain_id
