-- One row per pool of the token $token on $chain_id, in order of creation; with $quotes not NULL
-- only those whose other side is one of them. With $at_most not NULL, of pools that share a contract
-- no more than so many: the first made and the newest, half of each.
select
    chain_id, pool_key, pool, pool_id, dex, kind, variant, factory, token0, token1, fee,
    tick_spacing, stable, hooks, block_number, log_index
from pool
where
    chain_id = $chain_id
    and (token0 = $token or token1 = $token)
    and ($quotes is null or list_contains($quotes, case when token0 = $token then token1 else token0 end))
qualify
    $at_most is null
    or row_number() over (partition by pool order by block_number, log_index) <= $at_most - $at_most // 2
    or row_number() over (partition by pool order by block_number desc, log_index desc) <= $at_most // 2
order by block_number, log_index
