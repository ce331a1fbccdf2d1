-- One row for each of the first $at_most pools of the token $token on $chain_id whose other side is
-- none of $quotes, in order of creation.
select
    chain_id, pool_key, pool, pool_id, dex, kind, variant, factory, token0, token1, fee,
    tick_spacing, stable, hooks, block_number, log_index
from pool
where
    chain_id = $chain_id
    and (token0 = $token or token1 = $token)
    and not list_contains($quotes, case when token0 = $token then token1 else token0 end)
order by block_number, log_index
limit $at_most
