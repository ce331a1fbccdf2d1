-- One row per chain that has a batch.
select distinct chain_id from batch order by chain_id
