-- One row: launches of a chain below a block. :below null: all.
select count(*) as launches from launch
where chain_id = :chain_id and (:below::bigint is null or block_number < :below)
