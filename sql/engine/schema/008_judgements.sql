-- Verdict and checks of each report for SQL, and changes from report to report. The API uses neither.

-- Sets of checks: keys and severities joined by spaces, labels by line ends.
create table check_catalogue (
    catalogue_id integer primary key,
    -- release, checks and the settings that the verdict depends on
    policy text not null,
    keys text not null,
    severities text not null,
    labels text not null
);
create unique index check_catalogue_by_text on check_catalogue (policy, keys);

create table judgement (
    token_id integer primary key,
    catalogue_id integer not null,
    verdict text not null,
    reasons text not null,
    danger_checks integer not null,
    warning_checks integer not null,
    info_checks integer not null,
    notice_checks integer not null,
    safe_checks integer not null,
    unknown_checks integer not null,
    has_enough_liquidity integer,
    liquidity_usd real,
    can_buy integer,
    can_sell integer,
    pools integer not null,
    buy_tax real,
    sell_tax real,
    -- a letter for each check of the catalogue: the first of its status
    statuses text not null,
    -- likewise: t, f, u for unknown
    outcomes text not null
);

-- Last state of a token, as zstd of JSON, which the next settled report is compared with.
create table report_state (
    token_id integer primary key,
    state blob not null
);

-- Settled reports with their changes since the one before, in the order in which reorgs and age delete
-- them.
create table report_history (
    chain_id integer not null,
    block_number integer not null,
    token_id integer not null,
    scanned_at_s integer not null,
    verdict text not null,
    liquidity_usd real,
    buy_tax real,
    sell_tax real,
    -- JSON: lists of what, before and after; null: there is no report before this one
    changes text,
    primary key (chain_id, block_number, token_id, scanned_at_s)
) without rowid;
create index report_history_by_token on report_history (token_id);
