-- As sql/engine/schema/024_block_times.sql.

create table block_time (
    chain_id bigint not null,
    number bigint not null,
    time_s bigint not null,
    primary key (chain_id, number)
);
