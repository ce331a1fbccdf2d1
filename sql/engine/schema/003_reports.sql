-- Results about a token or a code, looked up one by one, and the queue of background tasks.

create table creator (
    chain_id integer not null,
    token blob not null,
    -- null: the block does not show the sender of the transaction
    creator blob,
    block_number integer not null,
    tx_hash blob,
    primary key (chain_id, token)
) without rowid;

create table history (
    token_id integer primary key,
    is_whole integer not null,
    requests integer not null,
    logs integer not null
);

create table code_answer (
    code_key integer primary key,
    code_hash blob not null,
    version text not null,
    size integer not null,
    found text not null
);
create index code_answer_by_version on code_answer (version);

create table refusal (
    token_id integer primary key,
    code text not null,
    reason text not null,
    refused_at_s integer not null
);

-- The whole report as zstd of its JSON text.
create table report_body (
    token_id integer primary key,
    body blob not null
);

-- The same for searches: values of one report, by token. Exact amounts are decimal text.
create table report (
    token_id integer primary key,
    pools_resolved integer not null,
    chain_id integer not null,
    address blob not null,
    block_number integer not null,
    block_hash blob not null,
    block_time_s integer not null,
    scanned_at_s integer not null,
    is_settled integer not null,
    name text not null,
    symbol text not null,
    decimals integer not null,
    supply_raw text not null,
    burned_raw text not null,
    owner_address blob,
    ownership_renounced integer,
    is_open_source integer,
    has_open_source_implementation integer,
    implementation blob,
    timebomb_status text,
    transfer_success integer,
    send_tax real,
    receive_tax real,
    transfer_checked_at_s integer,
    allowance_bypass integer,
    privileged_spenders text not null,
    funds_can_be_drained integer,
    owner_can_change_balance integer,
    is_launchpad_token integer,
    launchpad_name text,
    creator_address blob,
    creator_balance_raw text,
    owner_slots_vacant integer,
    clock_block integer,
    clock_time_s integer,
    others_raw text
);

create table report_finding (
    token_id integer not null,
    key text not null,
    value text,
    primary key (token_id, key)
) without rowid;

create table report_pool (
    token_id integer not null,
    ordinal integer not null,
    pool blob not null,
    pool_id blob,
    kind text not null,
    dex text not null,
    quote blob not null,
    liquidity_usd real not null,
    quote_side_usd real not null,
    buy text,
    buy_tax real,
    sell text,
    sell_tax real,
    error_code text,
    error_message text,
    is_launchpad integer,
    token_usd real,
    primary key (token_id, ordinal)
) without rowid;

create table report_holder (
    token_id integer not null,
    role text not null,
    ordinal integer not null,
    owner blob not null,
    amount_raw text not null,
    primary key (token_id, role, ordinal)
) without rowid;

-- Background tasks of tokens with their times. Due tasks are taken by worth; taking one postpones it,
-- so that a crash of the worker loses nothing.
create table task (
    kind text not null,
    token_id integer not null,
    chain_id integer not null,
    worth integer not null,
    due_s integer not null,
    is_due integer not null,
    primary key (kind, token_id)
) without rowid;
create index task_by_worth on task (kind, chain_id, worth desc, token_id) where is_due = 1;
create index task_by_time on task (kind, chain_id, due_s) where is_due = 0;

-- Progress of steps that bring the store of an earlier release up to date.
create table import_progress (
    step text primary key,
    done integer not null
) without rowid;
