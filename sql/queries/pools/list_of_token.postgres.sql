-- As for SQLite.
with side as (
    select pool_no
    from pool_side
    where
        chain_id = $chain_id and token = $token
        and (
            $others::text is null
            or other = any (
                array(
                    select decode(value, 'hex')
                    from jsonb_array_elements_text($others::jsonb) as value
                )
            )
        )
),
ranked as (
    select
        pool.*,
        row_number() over (
            partition by pool.pool order by pool.block_number, pool.log_index
        ) as from_first,
        row_number() over (
            partition by pool.pool order by pool.block_number desc, pool.log_index desc
        ) as from_last
    from side
    join pool on pool.pool_no = side.pool_no
)
select
    chain_id, pool_key, pool, pool_id, dex, kind, variant, factory, token0, token1, fee,
    tick_spacing, stable, hooks, block_number, log_index
from ranked
where
    $at_most::bigint is null
    or from_first <= $at_most - $at_most / 2
    or from_last <= $at_most / 2
order by block_number, log_index
