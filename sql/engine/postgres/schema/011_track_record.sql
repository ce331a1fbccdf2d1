-- As sql/engine/schema/020_track_record.sql, whose comments describe the tables.

create table real_trade (
    chain_id bigint not null,
    block_number bigint not null,
    log_index bigint not null,
    token_id bigint not null,
    is_sale bigint not null,
    trader bytea,
    time_s bigint not null,
    primary key (chain_id, block_number, log_index)
);
create index real_trade_by_token on real_trade (token_id, time_s);

create table last_trade (
    token_id bigint not null,
    time_s bigint not null,
    block_number bigint not null,
    log_index bigint not null,
    chain_id bigint not null,
    is_sale bigint not null,
    trader bytea,
    primary key (token_id, time_s, block_number, log_index)
);
create index last_trade_by_time on last_trade (chain_id, time_s);

create table trade_record (
    token_id bigint primary key,
    first_block bigint not null,
    first_time_s bigint not null,
    sales bigint not null,
    buys bigint not null,
    sellers bigint not null,
    buyers bigint not null
);

create table trade_day (
    token_id bigint not null,
    day bigint not null,
    sellers bigint not null,
    buyers bigint not null,
    primary key (token_id, day)
);

create table trade_party (
    token_id bigint not null,
    trader bytea not null,
    seller_day bigint,
    buyer_day bigint,
    primary key (token_id, trader)
);
