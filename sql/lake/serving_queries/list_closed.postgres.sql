-- One row per closed batch, oldest first. :chain_id null: of all chains.
select batch, chain_id from batch
where is_closed = 1 and (:chain_id::bigint is null or chain_id = :chain_id)
order by batch
