-- One row per pool of the token $token on $chain_id whose other side is one of $others (a JSON
-- array of hex), in order of creation, within $at_most as in pools/list_of_token.
with ranked as (
    select
        pool.*,
        row_number() over (
            partition by pool.pool order by pool.block_number, pool.log_index
        ) as from_first,
        row_number() over (
            partition by pool.pool order by pool.block_number desc, pool.log_index desc
        ) as from_last
    from pool_side indexed by pool_side_by_other
    join pool on pool.pool_no = pool_side.pool_no
    where
        pool_side.chain_id = $chain_id and pool_side.token = $token
        and pool_side.other in (select from_hex(value) from json_each($others))
)
select
    chain_id, pool_key, pool, pool_id, dex, kind, variant, factory, token0, token1, fee,
    tick_spacing, stable, hooks, block_number, log_index
from ranked
where $at_most is null or from_first <= $at_most - $at_most / 2 or from_last <= $at_most / 2
order by block_number, log_index
