-- Trades of tokens with their traders, for the track records of tokens. A trader is the last eight bytes
-- of its address: enough to count, and nobody gains by a collision.

-- Trades in blocks that may still be reorganised away.
create table real_trade (
    chain_id integer not null,
    block_number integer not null,
    log_index integer not null,
    token_id integer not null,
    is_sale integer not null,
    -- null: the logs name none, or several
    trader blob,
    time_s integer not null,
    primary key (chain_id, block_number, log_index)
) without rowid;
create index real_trade_by_token on real_trade (token_id, time_s);

-- Final trades of the last day.
create table last_trade (
    token_id integer not null,
    time_s integer not null,
    block_number integer not null,
    log_index integer not null,
    chain_id integer not null,
    is_sale integer not null,
    trader blob,
    primary key (token_id, time_s, block_number, log_index)
) without rowid;
create index last_trade_by_time on last_trade (chain_id, time_s);

-- Sums over all final trades of a token.
create table trade_record (
    token_id integer primary key,
    first_block integer not null,
    first_time_s integer not null,
    sales integer not null,
    buys integer not null,
    -- distinct ones, of each day only the first few that no other day has counted
    sellers integer not null,
    buyers integer not null
);

-- Traders that a day has counted. Days since 1970, UTC.
create table trade_day (
    token_id integer not null,
    day integer not null,
    sellers integer not null,
    buyers integer not null,
    primary key (token_id, day)
) without rowid;

-- Traders that are counted, and the day that counts each as a seller and as a buyer; null: none does.
create table trade_party (
    token_id integer not null,
    trader blob not null,
    seller_day integer,
    buyer_day integer,
    primary key (token_id, trader)
) without rowid;
