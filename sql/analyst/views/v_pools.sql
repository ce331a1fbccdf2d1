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
    pool.log_index::integer as log_index,
    make_timestamp(block_time.time_s * 1000000) as block_time
from serving.pool
left join serving.block_time
    on block_time.chain_id = pool.chain_id and block_time.number = pool.block_number;

comment on view v_pools is
    'One row per pool that a creation event told of.';
comment on column v_pools.chain is 'Chain id.';
comment on column v_pools.dex is 'Name of the exchange.';
comment on column v_pools.kind is 'Kind of the pool, as liquidity_type of the native format.';
comment on column v_pools.variant is 'Decoder variant of the kind. NULL: the original.';
comment on column v_pools.pool is 'Address of the pool, or of the contract that holds it.';
comment on column v_pools.pool_id is
    'Id of the pool where one contract holds many. NULL: the pool is a contract of its own.';
comment on column v_pools.factory is 'Contract that created it.';
comment on column v_pools.token0 is 'Address of the first token.';
comment on column v_pools.token1 is 'Address of the second token.';
comment on column v_pools.fee_pct is
    'Swap fee in percent. NULL: it varies, or the event does not tell.';
comment on column v_pools.tick_spacing is 'Tick spacing, or bin step in basis points. NULL: the kind has none.';
comment on column v_pools.stable is
    'Whether it is a stable pool of the Solidly kind. NULL: the kind has none.';
comment on column v_pools.hooks is 'Address of the hooks contract. NULL: the kind has none.';
comment on column v_pools.block_number is 'Block of the event.';
comment on column v_pools.log_index is 'Place of the event''s log in its block.';
comment on column v_pools.block_time is
    'Time of the block, UTC. NULL: the node did not send it, or a release before 0.5.0 wrote the row.';
