-- One new row per address of incoming_token (address, block_number) that is not tracked yet on
-- $chain_id, tracked because of $because; numbered on from the highest number there is.
insert into token (
    token_id, chain_id, address, tracked_because, first_seen_block, transfers_from_block
)
select
    (select coalesce(max(token_id), 0) from token)
        + row_number() over (order by seen.block_number, seen.address),
    $chain_id, seen.address, $because, seen.block_number, null
from (
    select address, min(block_number) as block_number
    from incoming_token
    group by address
) seen
where not exists (
    select 1 from token known where known.address = seen.address and known.chain_id = $chain_id
)
order by seen.block_number, seen.address
