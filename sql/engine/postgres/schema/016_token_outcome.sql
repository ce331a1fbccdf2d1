-- As sql/engine/schema/025_token_outcome.sql, whose comments describe the tables.

create table token_outcome (
    chain_id bigint not null,
    address bytea not null,
    findings text collate "C" not null,
    is_trapped bigint not null,
    block_number bigint not null,
    primary key (chain_id, address)
);

create table outcome_count (
    chain_id bigint not null,
    findings text collate "C" not null,
    known bigint not null,
    trapped bigint not null,
    primary key (chain_id, findings)
);
create index outcome_count_by_known on outcome_count (chain_id, known);
