-- Chain events that may still be reorganised away, rows of single look-ups, and rows queued for the
-- lake. Addresses, hashes and pool keys are blobs (20 or 32 bytes); amounts are the shortest signed
-- big-endian integers. No cost may grow with the chain: every statement of a block or a look-up uses
-- one of the keys below.

create table block (
    chain_id integer not null,
    number integer not null,
    hash blob not null,
    parent_hash blob not null,
    time_s integer not null,
    primary key (chain_id, number)
) without rowid;

create table checkpoint (
    chain_id integer not null,
    stream text not null,
    number integer not null,
    hash blob,
    primary key (chain_id, stream)
) without rowid;

create table coverage (
    chain_id integer not null,
    subject text not null,
    from_block integer not null,
    to_block integer not null,
    primary key (chain_id, subject, from_block)
) without rowid;

-- Numbers of tokens are permanent: those of deleted tokens are not reused.
create table token (
    token_id integer primary key autoincrement,
    chain_id integer not null,
    address blob not null,
    tracked_because text not null,
    first_seen_block integer not null,
    transfers_from_block integer,
    -- head of the chain at the first request; null: it was never requested
    requested_at_block integer
);
create unique index token_by_address on token (chain_id, address);
create index token_by_first_seen on token (chain_id, first_seen_block);
create index token_incomplete on token (chain_id) where transfers_from_block is null;

-- Tokens that are no longer tracked, or were seen in an earlier block than before, for processes with
-- a chain's tokens in memory. New tokens are those with a higher number.
create table token_change (
    change integer primary key autoincrement,
    chain_id integer not null,
    token_id integer not null
);
create index token_change_by_chain on token_change (chain_id);

create trigger token_deleted after delete on token
begin
    insert into token_change (chain_id, token_id) values (old.chain_id, old.token_id);
end;

create trigger token_seen_earlier after update of first_seen_block on token
when new.first_seen_block < old.first_seen_block
begin
    insert into token_change (chain_id, token_id) values (old.chain_id, old.token_id);
end;

create table pool (
    pool_no integer primary key autoincrement,
    chain_id integer not null,
    pool_key blob not null,
    pool blob not null,
    pool_id blob,
    dex text not null,
    kind text not null,
    variant text,
    factory blob not null,
    token0 blob not null,
    token1 blob not null,
    fee integer,
    tick_spacing integer,
    stable integer,
    hooks blob,
    block_number integer not null,
    log_index integer not null
);
create unique index pool_by_key on pool (chain_id, pool_key);
create index pool_by_block on pool (chain_id, block_number);

-- Each pool twice, once for each of its tokens, in order of creation.
create table pool_side (
    chain_id integer not null,
    token blob not null,
    block_number integer not null,
    log_index integer not null,
    pool_no integer not null,
    other blob not null,
    primary key (chain_id, token, block_number, log_index, pool_no)
) without rowid;
create index pool_side_by_other on pool_side (chain_id, token, other, block_number, log_index);

create table launch (
    chain_id integer not null,
    token blob not null,
    slug text not null,
    emitter blob not null,
    creator blob,
    tx_hash blob,
    block_number integer not null,
    log_index integer not null,
    primary key (chain_id, token, slug)
) without rowid;
create index launch_by_block on launch (chain_id, block_number);

-- Transfers that are not in `balance` yet.
create table transfer (
    chain_id integer not null,
    block_number integer not null,
    log_index integer not null,
    token_id integer not null,
    sender blob not null,
    recipient blob not null,
    amount blob not null,
    primary key (chain_id, block_number, log_index)
) without rowid;
create index transfer_by_token on transfer (token_id);

-- Spans of blocks whose transfers of a token a back-fill has stored, blocks without any included.
create table filled_span (
    token_id integer not null,
    stream text not null,
    from_block integer not null,
    to_block integer not null,
    primary key (token_id, stream)
) without rowid;

create table trade (
    chain_id integer not null,
    block_number integer not null,
    log_index integer not null,
    pool_no integer not null,
    time_s integer not null,
    amount0 real not null,
    amount1 real not null,
    primary key (chain_id, block_number, log_index)
) without rowid;
create index trade_by_pool on trade (pool_no, block_number, log_index);

-- The newest final trades of each pool, for prices.
create table recent_trade (
    pool_no integer not null,
    block_number integer not null,
    log_index integer not null,
    chain_id integer not null,
    time_s integer not null,
    amount0 real not null,
    amount1 real not null,
    primary key (pool_no, block_number, log_index)
) without rowid;
create index recent_trade_by_time on recent_trade (chain_id, time_s);

create table undecoded (
    chain_id integer not null,
    block_number integer not null,
    log_index integer not null,
    address blob not null,
    topic0 blob not null,
    topic_count integer not null,
    data blob not null,
    primary key (chain_id, block_number, log_index)
) without rowid;

-- Final rows queued for the lake, by batch. A closed batch gets no more rows: it is moved to the
-- lake in one transaction that also notes its number there, and deleted here afterwards.
create table batch (
    batch integer primary key autoincrement,
    chain_id integer not null,
    is_closed integer not null default 0
);
create unique index batch_open on batch (chain_id) where is_closed = 0;

create table final_transfer (
    batch integer not null,
    block_number integer not null,
    log_index integer not null,
    token_id integer not null,
    sender blob not null,
    recipient blob not null,
    amount blob not null,
    primary key (batch, block_number, log_index)
) without rowid;

create table final_trade (
    batch integer not null,
    block_number integer not null,
    log_index integer not null,
    pool_no integer not null,
    time_s integer not null,
    amount0 real not null,
    amount1 real not null,
    primary key (batch, block_number, log_index)
) without rowid;

create table final_undecoded (
    batch integer not null,
    block_number integer not null,
    log_index integer not null,
    address blob not null,
    topic0 blob not null,
    topic_count integer not null,
    data blob not null,
    primary key (batch, block_number, log_index)
) without rowid;
