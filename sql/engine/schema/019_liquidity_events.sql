-- Logs that name possible holders of young pools' liquidity: transfers of LP tokens and of shares,
-- created and changed positions. Kept for a month, so that the table does not grow with the chain's
-- age; unwound with their blocks.

create table liquidity_event (
    chain_id integer not null,
    block_number integer not null,
    log_index integer not null,
    pool_no integer not null,
    -- 32 bytes each, topic 0 included
    topics blob not null,
    data blob not null,
    primary key (chain_id, block_number, log_index)
) without rowid;
create index liquidity_event_by_pool on liquidity_event (pool_no, block_number, log_index);
