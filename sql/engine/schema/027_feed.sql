-- Feed of each chain: one row per line, in the order in which lines were stored.

create table feed (
    -- ascends over all chains; those of one chain are committed in order
    sequence integer primary key autoincrement,
    chain_id integer not null,
    -- launch, verdict, withdrawal or reorg
    kind text not null,
    -- null: a reorg
    token blob,
    -- of a reorg: the first block whose earlier lines are void; null: a refusal
    block_number integer,
    tx_hash blob,
    log_index integer,
    seen_at_s integer not null,
    -- JSON
    detail text not null
);
create index feed_by_chain on feed (chain_id, sequence);
create index feed_by_block on feed (chain_id, block_number);

-- Highest sequence of a chain's lines that were deleted by age.
create table feed_gap (
    chain_id integer primary key,
    forgotten integer not null
);
