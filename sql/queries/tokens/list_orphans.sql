-- One row per token of $chain_id that has neither pool nor launch left once those from $number on
-- are gone; is_asked_for: somebody asked for it, so it stays.
with candidate as (
    select token0 as address from pool where chain_id = $chain_id and block_number >= $number
    union
    select token1 as address from pool where chain_id = $chain_id and block_number >= $number
    union
    select token as address from launch where chain_id = $chain_id and block_number >= $number
    union
    select address from token where chain_id = $chain_id and first_seen_block >= $number
)
select
    token.token_id,
    exists (
        select 1 from request
        where request.address = token.address and request.chain_id = $chain_id
    ) as is_asked_for
from token
where
    token.chain_id = $chain_id and token.tracked_because <> 'request'
    and token.address in (select address from candidate)
    and not exists (
        select 1 from pool kept
        where
            kept.chain_id = $chain_id and kept.block_number < $number
            and kept.token0 = token.address
    )
    and not exists (
        select 1 from pool kept
        where
            kept.chain_id = $chain_id and kept.block_number < $number
            and kept.token1 = token.address
    )
    and not exists (
        select 1 from launch kept
        where
            kept.chain_id = $chain_id and kept.block_number < $number
            and kept.token = token.address
    )
order by token.token_id
