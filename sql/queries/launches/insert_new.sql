-- One new row per token and platform of incoming_launch (the columns of launch) that is not stored
-- yet. What is announced twice, by two events or by following and a back-fill, is kept once.
insert into launch by name
select incoming.*
from incoming_launch incoming
where not exists (
    select 1 from launch known
    where
        known.token = incoming.token and known.chain_id = incoming.chain_id
        and known.slug = incoming.slug
)
qualify row_number() over (
    partition by incoming.chain_id, incoming.token, incoming.slug
    order by incoming.block_number, incoming.log_index
) = 1
order by incoming.block_number, incoming.log_index
