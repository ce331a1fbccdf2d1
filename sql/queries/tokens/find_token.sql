-- One row, or none: the tracked token $address on the chain $chain_id.
select token_id, chain_id, address, tracked_because, first_seen_block, transfers_from_block
from token
where address = $address and chain_id = $chain_id
