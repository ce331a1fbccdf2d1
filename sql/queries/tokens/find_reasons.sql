-- One row, or none: why the token $address of $chain_id is to be tracked still.
select
    token_id,
    tracked_because,
    requested_at_block is not null as is_requested,
    exists (
        select 1 from pool_side
        where pool_side.chain_id = $chain_id and pool_side.token = $address
    ) as has_pool,
    exists (
        select 1 from launch where launch.chain_id = $chain_id and launch.token = $address
    ) as has_launch,
    exists (
        select 1 from token_balance where token_balance.token_id = token.token_id
    ) as has_final_transfers
from token
where chain_id = $chain_id and address = $address
