-- One row per pool of the token $token on $chain_id, in order of creation. With $others not NULL
-- (a JSON array of hex), only those whose other side is one of them. With $at_most not NULL, of pools
-- that share a contract no more than so many: the first made and the newest, half of each.
with side as (
    select pool_no
    from pool_side
    where $others is null and chain_id = $chain_id and token = $token
    union all
    select pool_no
    from pool_side indexed by pool_side_by_other
    where
        chain_id = $chain_id and token = $token
        and other in (select from_hex(value) from json_each($others))
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
where $at_most is null or from_first <= $at_most - $at_most / 2 or from_last <= $at_most / 2
order by block_number, log_index
