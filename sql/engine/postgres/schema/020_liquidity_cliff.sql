-- As sql/engine/schema/029_liquidity_cliff.sql, whose comments describe the table.

create table liquidity_cliff (
    chain_id bigint not null,
    block_number bigint not null,
    log_index bigint not null,
    token bytea not null,
    pool bytea not null,
    source text collate "C" not null,
    time_s bigint not null,
    tx_hash bytea,
    left_pct double precision not null,
    primary key (chain_id, block_number, log_index)
);
create index liquidity_cliff_by_token on liquidity_cliff (chain_id, token, block_number);
create index liquidity_cliff_by_time on liquidity_cliff (chain_id, time_s);
