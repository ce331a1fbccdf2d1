-- As sql/engine/schema/019_liquidity_events.sql.

create table liquidity_event (
    chain_id bigint not null,
    block_number bigint not null,
    log_index bigint not null,
    pool_no bigint not null,
    topics bytea not null,
    data bytea not null,
    primary key (chain_id, block_number, log_index)
);
create index liquidity_event_by_pool on liquidity_event (pool_no, block_number, log_index);
