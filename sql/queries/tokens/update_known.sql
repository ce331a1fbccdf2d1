-- Tokens that incoming_token (address, block_number) names and that are tracked already on
-- $chain_id: the earliest sight stays, and of the reasons the strongest: pool, launch, request.
update token
set
    first_seen_block = least(token.first_seen_block, seen.block_number),
    tracked_because = case
        when $because = 'pool' or token.tracked_because = 'request' then $because
        else token.tracked_because
    end
from (
    select address, min(block_number) as block_number
    from incoming_token
    group by address
) seen
where token.address = seen.address and token.chain_id = $chain_id
