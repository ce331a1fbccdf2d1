-- As sql/engine/schema/018_funder.sql.

create table funder (
    chain_id bigint not null,
    account bytea not null,
    funder bytea,
    block_number bigint not null,
    tx_hash bytea,
    primary key (chain_id, account)
);
create index funder_by_funder on funder (chain_id, funder, block_number)
where funder is not null;
