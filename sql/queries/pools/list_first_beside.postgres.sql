-- As for SQLite.
select
    pool.chain_id, pool.pool_key, pool.pool, pool.pool_id, pool.dex, pool.kind, pool.variant,
    pool.factory, pool.token0, pool.token1, pool.fee, pool.tick_spacing, pool.stable, pool.hooks,
    pool.block_number, pool.log_index
from pool_side
join pool on pool.pool_no = pool_side.pool_no
where
    pool_side.chain_id = $chain_id and pool_side.token = $token
    and pool_side.other <> all (
        array(select decode(value, 'hex') from jsonb_array_elements_text($others::jsonb) as value)
    )
order by pool_side.block_number, pool_side.log_index
limit $at_most
