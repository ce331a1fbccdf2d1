-- Pools, as their creation events told.

create table pool (
    chain_id integer not null,
    pool_key varchar not null,
    pool varchar not null,
    pool_id varchar,
    dex varchar not null,
    kind varchar not null,
    variant varchar,
    factory varchar not null,
    token0 varchar not null,
    token1 varchar not null,
    fee bigint,
    tick_spacing bigint,
    stable boolean,
    hooks varchar,
    block_number bigint not null,
    log_index integer not null
);
