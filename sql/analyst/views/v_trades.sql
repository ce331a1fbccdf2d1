-- One row per trade in a pool with an anchor on one side. Amounts in smallest units from the pool's
-- side: positive came in.
--
-- In the order of v_transfers, for the same reason.
create or replace temp view v_trades as
with stored as (
    select
        hot.chain_id, hot.block_number, hot.log_index, hot.time_s, hot.pool_no,
        hot.amount0, hot.amount1
    from serving.trade hot
    union all
    select
        batch.chain_id, waiting.block_number, waiting.log_index, waiting.time_s, waiting.pool_no,
        waiting.amount0, waiting.amount1
    from serving.final_trade waiting
    join serving.batch on batch.batch = waiting.batch
    anti join lake.moved on moved.batch = waiting.batch
),
placed as (
    select
        stored.chain_id, stored.block_number, stored.log_index, stored.time_s, pool.dex, pool.kind,
        '0x' || lower(hex(pool.pool_key)) as pool_key,
        '0x' || lower(hex(pool.token0)) as token0,
        '0x' || lower(hex(pool.token1)) as token1,
        stored.amount0, stored.amount1
    from stored
    join serving.pool on pool.pool_no = stored.pool_no
    union all
    select
        chain_id, block_number, log_index, time_s, dex, kind, pool_key, token0, token1,
        amount0, amount1
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
    amount1 as amount1_raw
from placed;
