-- One row per file that has rows of a batch.
select distinct filename from lake.transfer where batch = $batch and chain_id = $chain_id
union all
select distinct filename from lake.trade where batch = $batch and chain_id = $chain_id
union all
select distinct filename from lake.undecoded where batch = $batch and chain_id = $chain_id
order by filename
