-- Times of blocks with a creation of a pool, a launch or an event of liquidity, for SQL: the table of
-- blocks has only those that may still be reorganised away. Unwound with their blocks.
create table block_time (
    chain_id integer not null,
    number integer not null,
    -- Unix seconds
    time_s integer not null,
    primary key (chain_id, number)
) without rowid;
