-- One row per pool that a creation event told of.
create or replace temp view v_pools as
select
    pool.chain_id::integer as chain,
    pool.dex,
    pool.kind,
    pool.variant,
    '0x' || lower(hex(pool.pool)) as pool,
    '0x' || lower(hex(pool.pool_id)) as pool_id,
    '0x' || lower(hex(pool.factory)) as factory,
    '0x' || lower(hex(pool.token0)) as token0,
    '0x' || lower(hex(pool.token1)) as token1,
    pool.fee / case when pool.kind in ('AmmV2', 'Solid') then 100.0 else 10000.0 end as fee_pct,
    pool.tick_spacing,
    pool.stable::boolean as stable,
    '0x' || lower(hex(pool.hooks)) as hooks,
    pool.block_number,
    pool.log_index::integer as log_index
from serving.pool;
