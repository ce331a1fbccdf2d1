-- One row per tracked token of $chain_id, by id.
select
    token_id, chain_id, address, tracked_because, first_seen_block, transfers_from_block,
    requested_at_block
from token
where chain_id = $chain_id
order by token_id
