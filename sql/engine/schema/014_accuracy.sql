-- Accuracy of predictions in real trades and transfers: counts by block, which become counts by day
-- once their blocks are final, and each disagreement with its evidence.

create table accuracy_count (
    chain_id integer not null,
    -- first second of the day, UTC
    day_s integer not null,
    -- -1: all blocks of the day that are final and were added up
    block_number integer not null,
    -- empty: a transfer, which is at no exchange
    dex text not null,
    flag text not null,
    -- of the report at that time
    age text not null,
    agreed integer not null,
    disagreed integer not null,
    -- of those, how many a change of the token explains
    explained integer not null,
    -- seen, and neither agreement nor disagreement
    uncounted integer not null,
    primary key (chain_id, day_s, block_number, dex, flag, age)
) without rowid;
create index accuracy_count_by_block on accuracy_count (chain_id, block_number);

create table disagreement (
    disagreement_id integer primary key autoincrement,
    chain_id integer not null,
    block_number integer not null,
    block_time_s integer not null,
    token_id integer not null,
    tx_hash blob not null,
    -- null: a transaction that failed
    log_index integer,
    -- null: not known
    trader blob,
    -- null: a transfer
    pool blob,
    dex text not null,
    flag text not null,
    age text not null,
    report_block integer not null,
    -- passed or refused; of a tax, percent
    predicted text not null,
    observed text not null,
    -- 1: counted as disagreement at once; 0: only once a later report agrees with what was observed
    is_certain integer not null,
    -- 1: a moment that the code compares the clock with lay between report and trade
    has_clock integer not null,
    -- block of the report that settled it; null: none has
    settled_block integer,
    explanation text
);
create index disagreement_by_token on disagreement (token_id, block_number);
create index disagreement_by_block on disagreement (chain_id, block_number);
create index disagreement_by_settled on disagreement (chain_id, settled_block)
where settled_block is not null;

-- Index of reports by the pools that trade in a block.
create index report_pool_by_pool on report_pool (pool);
