-- One row: the token $token_id.
select
    token_id, chain_id, address, tracked_because, first_seen_block, transfers_from_block,
    requested_at_block
from token
where token_id = $token_id
