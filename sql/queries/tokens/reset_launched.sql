-- Tokens of $chain_id that are tracked because of a pool, and of all pools and launches below
-- $number have launches only, are tracked because of a launch.
update token set tracked_because = 'launch'
where
    chain_id = $chain_id and tracked_because = 'pool'
    and address in (
        select token0 from pool where chain_id = $chain_id and block_number >= $number
        union
        select token1 from pool where chain_id = $chain_id and block_number >= $number
    )
    and address in (
        select kept.token from launch kept
        where kept.chain_id = $chain_id and kept.block_number < $number
    )
    and address not in (
        select token0 from pool where chain_id = $chain_id and block_number < $number
        union
        select token1 from pool where chain_id = $chain_id and block_number < $number
    )
