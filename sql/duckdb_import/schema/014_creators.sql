-- Who sent the transaction that made a token: looked up once, in a block that was final.

create table creator (
    chain_id integer not null,
    token varchar not null,
    -- NULL: the block does not tell whose the transaction was
    creator varchar,
    block_number bigint not null,
    tx_hash varchar
);

-- Speed only, as in 007.
create index creator_by_token on creator (token);
