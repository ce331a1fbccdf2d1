-- As sql/engine/schema/023_early_events.sql.

alter table trade add column trader bytea;
alter table trade add column tx_hash bytea;
alter table final_trade add column trader bytea;
alter table final_trade add column tx_hash bytea;

create table early_trade (
    token_id bigint not null,
    block_number bigint not null,
    log_index bigint not null,
    chain_id bigint not null,
    time_s bigint not null,
    is_sale bigint not null,
    trader bytea,
    tx_hash bytea not null,
    amount double precision not null,
    primary key (token_id, block_number, log_index)
);
create index early_trade_by_trader on early_trade (token_id, trader);
create index early_trade_by_block on early_trade (chain_id, block_number);

create table early_transfer (
    token_id bigint not null,
    block_number bigint not null,
    log_index bigint not null,
    chain_id bigint not null,
    sender bytea not null,
    recipient bytea not null,
    amount bytea not null,
    tx_hash bytea not null,
    known_block bigint not null,
    primary key (token_id, block_number, log_index)
);
create index early_transfer_by_recipient on early_transfer (token_id, recipient);
create index early_transfer_by_block on early_transfer (chain_id, block_number);
