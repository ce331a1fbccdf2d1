-- In the order of v_transfers, for the same reason.
create or replace temp view v_trades as
with stored as (
    select
        null::integer as batch, hot.chain_id, hot.block_number, hot.log_index, hot.time_s, hot.pool_no,
        hot.amount0, hot.amount1,
        '0x' || lower(hex(hot.trader)) as trader, '0x' || lower(hex(hot.tx_hash)) as tx_hash
    from serving.trade hot
    union all
    select
        null::integer as batch, batch.chain_id, waiting.block_number, waiting.log_index, waiting.time_s, waiting.pool_no,
        waiting.amount0, waiting.amount1,
        '0x' || lower(hex(waiting.trader)) as trader,
        '0x' || lower(hex(waiting.tx_hash)) as tx_hash
    from serving.final_trade waiting
    join serving.batch on batch.batch = waiting.batch
    anti join lake.moved on moved.batch = waiting.batch
),
placed as (
    select
        stored.batch, stored.chain_id, stored.block_number, stored.log_index, stored.time_s, pool.dex, pool.kind,
        '0x' || lower(hex(pool.pool_key)) as pool_key,
        '0x' || lower(hex(pool.token0)) as token0,
        '0x' || lower(hex(pool.token1)) as token1,
        stored.amount0, stored.amount1, stored.trader, stored.tx_hash
    from stored
    join serving.pool on pool.pool_no = stored.pool_no
    union all
    select
        batch, chain_id, block_number, log_index, time_s, dex, kind, pool_key, token0, token1,
        amount0, amount1, trader, tx_hash
    from lake.trade
)
select
    chain_id::integer as chain,
    block_number,
    log_index::integer as log_index,
    make_timestamp(time_s * 1000000) as block_time,
    dex,
    kind,
    pool_key,
    token0,
    token1,
    amount0 as amount0_raw,
    amount1 as amount1_raw,
    trader,
    tx_hash,
    batch
from placed;

comment on view v_trades is
    'One row per trade in a pool with a quote token of the chain on one side, as the pool saw it.';
comment on column v_trades.chain is 'Chain id.';
comment on column v_trades.block_number is 'Block of the event.';
comment on column v_trades.log_index is 'Place of the event''s log in its block.';
comment on column v_trades.block_time is 'Time of the block, UTC.';
comment on column v_trades.dex is 'Name of the exchange.';
comment on column v_trades.kind is 'Kind of the pool, as liquidity_type of the native format.';
comment on column v_trades.pool_key is
    'Address of the pool, or its id where one contract holds many.';
comment on column v_trades.token0 is 'Address of the first token.';
comment on column v_trades.token1 is 'Address of the second token.';
comment on column v_trades.amount0_raw is
    'What came into the pool of token0 in smallest units, as a floating-point number, which is exact up to 2^53; negative: what went out.';
comment on column v_trades.amount1_raw is 'The same of token1.';
comment on column v_trades.trader is
    'Account that traded, 0x text in lower case. NULL: the logs name none, or several; or a release before 0.5.0 wrote the row.';
comment on column v_trades.tx_hash is
    'Hash of the transaction. NULL: the node did not send it, or a release before 0.5.0 wrote the row.';
comment on column v_trades.batch is
    'Batch of the lake that brought the row, negative from a back-fill. NULL: it is not in the lake yet.';
