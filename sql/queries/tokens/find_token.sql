-- One row, or none: the tracked token $address on the chain $chain_id.
select
    token_id, chain_id, address, tracked_because, first_seen_block, transfers_from_block,
    requested_at_block
from token
where chain_id = $chain_id and address = $address
