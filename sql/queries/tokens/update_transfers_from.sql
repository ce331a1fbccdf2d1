-- Tokens that incoming_token (address, block_number) names on $chain_id: their transfers are now
-- complete from that block on, or from the earlier one that was known.
update token
set transfers_from_block
    = least(coalesce(token.transfers_from_block, seen.block_number), seen.block_number)
from (
    select address, min(block_number) as block_number
    from incoming_token
    group by address
) seen
where token.address = seen.address and token.chain_id = $chain_id
