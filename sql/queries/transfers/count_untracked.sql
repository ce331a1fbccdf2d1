-- One row: how many rows of incoming_transfer are of a token that is not tracked.
select count(*) as count
from incoming_transfer incoming
where not exists (
    select 1 from token
    where token.address = incoming.token and token.chain_id = incoming.chain_id
)
order by count
