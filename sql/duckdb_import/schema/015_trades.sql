-- Swaps in pools that have an anchor on one side and another token on the other. Written where the
-- block's time is known, so near the head. Amounts in smallest units, from the pool's side: positive
-- came in, negative went out; the anchor may be token0 or token1.

create table trade (
    chain_id integer not null,
    block_number bigint not null,
    log_index integer not null,
    time_s bigint not null,
    pool_key varchar not null,
    amount0 double not null,
    amount1 double not null
);

create view v_trades as
select
    trade.chain_id as chain,
    trade.block_number,
    trade.log_index,
    make_timestamp(trade.time_s * 1000000) as block_time,
    pool.dex,
    pool.kind,
    trade.pool_key,
    pool.token0,
    pool.token1,
    trade.amount0 as amount0_raw,
    trade.amount1 as amount1_raw
from trade
join pool on pool.chain_id = trade.chain_id and pool.pool_key = trade.pool_key;
