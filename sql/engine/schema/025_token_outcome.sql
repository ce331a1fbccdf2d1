-- Outcomes of tokens after their first trade, by what was found before it. Written by backtests.

create table token_outcome (
    chain_id integer not null,
    address blob not null,
    -- keys of checks, in order, joined by commas
    findings text not null,
    -- 1: a buyer was trapped within a day; 0: buyers sold, and none was trapped
    is_trapped integer not null,
    -- of the findings
    block_number integer not null,
    primary key (chain_id, address)
);

-- Numbers of the rows above, so that a look-up reads one row.
create table outcome_count (
    chain_id integer not null,
    findings text not null,
    known integer not null,
    trapped integer not null,
    primary key (chain_id, findings)
) without rowid;
create index outcome_count_by_known on outcome_count (chain_id, known);
