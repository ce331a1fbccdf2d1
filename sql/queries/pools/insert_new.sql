-- One new row per pool of incoming_pool (the columns of pool) that is not stored yet. A pool that
-- comes twice, from following and from a back-fill, is kept once.
insert into pool by name
select incoming.*
from incoming_pool incoming
where not exists (
    select 1 from pool known
    where known.chain_id = incoming.chain_id and known.pool_key = incoming.pool_key
)
qualify row_number() over (
    partition by incoming.chain_id, incoming.pool_key
    order by incoming.block_number, incoming.log_index
) = 1
order by incoming.block_number, incoming.log_index
