-- Tracked tokens and why they are tracked.

create table token (
    token_id integer not null,
    chain_id integer not null,
    address varchar not null,
    tracked_because varchar not null,
    first_seen_block bigint not null,
    transfers_from_block bigint
);

create table request (
    chain_id integer not null,
    address varchar not null,
    block_number bigint not null
);
