create or replace temp view v_liquidity_events as
with placed as (
    select
        event.*, pool.dex, pool.kind, pool.pool, pool.pool_key, pool.token0, pool.token1,
        '0x' || lower(hex(event.topics[1:32])) as topic0,
        event.topics[45:64] as account1,
        event.topics[77:96] as account2
    from serving.liquidity_event event
    join serving.pool on pool.pool_no = event.pool_no
)
select
    placed.chain_id::integer as chain,
    placed.block_number,
    placed.log_index::integer as log_index,
    make_timestamp(block_time.time_s * 1000000) as block_time,
    placed.dex,
    placed.kind,
    '0x' || lower(hex(placed.pool_key)) as pool_key,
    '0x' || lower(hex(placed.token0)) as token0,
    '0x' || lower(hex(placed.token1)) as token1,
    placed.topic0,
    case
        when placed.topic0 <> '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
        then 'other'
        when placed.account1 = unhex(repeat('00', 20)) then 'shares_made'
        when placed.account2 = unhex(repeat('00', 20)) then 'shares_burnt'
        when placed.account2 = placed.pool then 'shares_returned'
        else 'shares_moved'
    end as event,
    case
        when event <> 'other' then '0x' || lower(hex(placed.account1))
    end as sender,
    case
        when event <> 'other' then '0x' || lower(hex(placed.account2))
    end as recipient,
    '0x' || lower(hex(placed.topics)) as topics,
    '0x' || lower(hex(placed.data)) as data
from placed
left join serving.block_time
    on block_time.chain_id = placed.chain_id and block_time.number = placed.block_number;

comment on view v_liquidity_events is
    'One row per event of a followed pool up to 32 days old that names a possible holder of its liquidity.';
comment on column v_liquidity_events.chain is 'Chain id.';
comment on column v_liquidity_events.block_number is 'Block of the event.';
comment on column v_liquidity_events.log_index is 'Place of the event''s log in its block.';
comment on column v_liquidity_events.block_time is
    'Time of the block, UTC. NULL: a release before 0.5.0 wrote the row.';
comment on column v_liquidity_events.dex is 'Name of the exchange.';
comment on column v_liquidity_events.kind is 'Kind of the pool, as liquidity_type of the native format.';
comment on column v_liquidity_events.pool_key is
    'Address of the pool, or its id where one contract holds many.';
comment on column v_liquidity_events.token0 is 'Address of the first token.';
comment on column v_liquidity_events.token1 is 'Address of the second token.';
comment on column v_liquidity_events.topic0 is 'Topic of the event.';
comment on column v_liquidity_events.event is
    'shares_made: added liquidity; shares_returned: sent to the pool, to withdraw; shares_burnt; shares_moved; other: an event of positions.';
comment on column v_liquidity_events.sender is 'Sender of shares. NULL: an event of positions.';
comment on column v_liquidity_events.recipient is 'Recipient of shares. NULL: an event of positions.';
comment on column v_liquidity_events.topics is 'All topics of the log, joined.';
comment on column v_liquidity_events.data is 'Data of the log.';
