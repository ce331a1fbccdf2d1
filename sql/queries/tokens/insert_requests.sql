-- One new row per address of incoming_token (address, block_number) that nobody asked for before on
-- $chain_id.
insert into request (chain_id, address, block_number)
select $chain_id, seen.address, min(seen.block_number)
from incoming_token seen
where not exists (
    select 1 from request known where known.address = seen.address and known.chain_id = $chain_id
)
group by seen.address
order by seen.address
