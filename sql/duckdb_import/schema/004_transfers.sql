-- Transfers of tracked tokens: the wide table, so it holds narrow integers only.
-- An address is its number in the dictionary. The exact 256-bit amount is four 64-bit words, the
-- lowest first: words add up exactly in HUGEINT, and the upper ones, nearly always 0, take no room.
-- `amount` is the same number as a DOUBLE, for scans and rankings.

create table address (
    address_id integer not null,
    address varchar not null
);

create table transfer (
    chain_id integer not null,
    block_number bigint not null,
    log_index integer not null,
    token_id integer not null,
    sender_id integer not null,
    recipient_id integer not null,
    word0 ubigint not null,
    word1 ubigint not null,
    word2 ubigint not null,
    word3 ubigint not null,
    amount double not null
);

create table undecoded (
    chain_id integer not null,
    block_number bigint not null,
    log_index integer not null,
    address varchar not null,
    topic0 varchar not null,
    topic_count bigint not null,
    data varchar not null
);
