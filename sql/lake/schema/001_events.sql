-- Final chain events, with the batches and back-fills that brought them. Addresses, hashes, pool keys
-- are 0x text. Rows are sorted by token or pool, where text costs nearly nothing; sender and
-- recipient are not sorted, so they are numbers: 32, 64 and 64 bits, the highest first. Amounts are
-- four 64-bit words, word0 the lowest. No column is a HUGEINT (Parquet would hold a DOUBLE) and none
-- a BLOB.
-- batch: number of the serving state's batch that brought the row; of a back-fill, minus its number.

create table if not exists lake.transfer (
    batch integer not null,
    chain_id integer not null,
    block_number bigint not null,
    log_index integer not null,
    token varchar not null,
    token_id integer not null,
    sender_high uinteger not null,
    sender_mid ubigint not null,
    sender_low ubigint not null,
    recipient_high uinteger not null,
    recipient_mid ubigint not null,
    recipient_low ubigint not null,
    word0 ubigint not null,
    word1 ubigint not null,
    word2 ubigint not null,
    word3 ubigint not null
);

-- With its pool's facts, so that it can be read without one.
create table if not exists lake.trade (
    batch integer not null,
    chain_id integer not null,
    block_number bigint not null,
    log_index integer not null,
    time_s bigint not null,
    pool_no integer not null,
    pool_key varchar not null,
    dex varchar not null,
    kind varchar not null,
    token0 varchar not null,
    token1 varchar not null,
    amount0 double not null,
    amount1 double not null
);

create table if not exists lake.undecoded (
    batch integer not null,
    chain_id integer not null,
    block_number bigint not null,
    log_index integer not null,
    address varchar not null,
    topic0 varchar not null,
    topic_count integer not null,
    data varchar not null
);

create table if not exists lake.pool (
    pool_no integer not null,
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

create table if not exists lake.launch (
    chain_id integer not null,
    token varchar not null,
    slug varchar not null,
    emitter varchar not null,
    creator varchar,
    tx_hash varchar,
    block_number bigint not null,
    log_index integer not null
);

-- Batches whose rows are here: readers skip rows of the serving state in these batches. Sums of
-- transfers are exact decimal text; an address counts as a 160-bit number.
create table if not exists lake.moved (
    batch integer not null,
    chain_id integer not null,
    transfers bigint not null,
    amount_sum varchar not null,
    sender_sum varchar not null,
    recipient_sum varchar not null,
    trades bigint not null,
    undecoded bigint not null,
    moved_at_s bigint not null
);

-- Back-filled ranges whose rows are here, noted in the transaction that wrote them.
create table if not exists lake.bulk (
    batch integer not null,
    chain_id integer not null,
    stream varchar not null,
    from_block bigint not null,
    to_block bigint not null,
    rows bigint not null
);

create table if not exists lake.lake_version (version integer not null);
