-- One report per tracked token, spread over tables that all hang on token_id.
-- A value that may also be 'pending' is text: 'true', 'false' or 'pending'. Exact amounts are
-- decimal text. NULL is unknown.

create table report (
    token_id integer not null,
    -- false: pools were not resolved, so that report_pool is empty means nothing
    pools_resolved boolean not null,
    chain_id integer not null,
    address varchar not null,
    block_number bigint not null,
    block_hash varchar not null,
    block_time_s bigint not null,
    scanned_at_s bigint not null,
    is_settled boolean not null,
    name varchar not null,
    symbol varchar not null,
    decimals bigint not null,
    supply_raw varchar not null,
    burned_raw varchar not null,
    owner_address varchar,
    ownership_renounced boolean,
    is_open_source boolean,
    has_open_source_implementation boolean,
    implementation varchar,
    timebomb_status varchar,
    transfer_success boolean,
    send_tax double,
    receive_tax double,
    transfer_checked_at_s bigint,
    allowance_bypass boolean,
    privileged_spenders varchar[] not null,
    funds_can_be_drained boolean,
    owner_can_change_balance boolean,
    is_launchpad_token boolean,
    launchpad_name varchar,
    creator_address varchar,
    creator_balance_raw varchar
);

create table report_static (
    token_id integer not null,
    mint_or_burn_function boolean,
    can_selfdestruct boolean,
    transfer_guarded_by_storage boolean,
    transfer_from_guarded_by_storage boolean,
    trading_cooldown boolean,
    view_function_modifies_state boolean,
    has_trading_cap boolean,
    has_trading_cap_functionality boolean,
    trading_cap_can_be_modified varchar,
    has_position_cap boolean,
    has_position_cap_functionality boolean,
    position_cap_can_be_modified varchar,
    has_owner_functionality boolean,
    has_pause_functionality boolean,
    pause_status_can_be_modified varchar,
    has_blacklist_or_whitelist boolean,
    external_call boolean,
    timebomb varchar,
    has_tax_functionality boolean,
    tax_can_be_modified boolean,
    is_proxy boolean,
    balance_update_function varchar[] not null,
    allowance_update_function varchar[] not null
);

create table report_pool (
    token_id integer not null,
    ordinal integer not null,
    pool varchar not null,
    pool_id varchar,
    kind varchar not null,
    dex varchar not null,
    quote varchar not null,
    liquidity_usd double not null,
    quote_side_usd double not null,
    buy varchar,
    buy_tax double,
    sell varchar,
    sell_tax double,
    error_code varchar,
    error_message varchar,
    is_launchpad boolean
);

create table report_holder (
    token_id integer not null,
    role varchar not null,
    ordinal integer not null,
    owner varchar not null,
    amount_raw varchar not null
);

create table report_deadline (
    token_id integer not null,
    position integer not null,
    source varchar not null,
    slot varchar,
    clock varchar not null,
    value varchar not null
);

create table report_evidence (
    token_id integer not null,
    position integer not null,
    key varchar not null,
    body varchar not null
);

-- The gate's last no, so that a tracked address that is no token is not judged again at every turn.
create table refusal (
    token_id integer not null,
    code varchar not null,
    reason varchar not null,
    refused_at_s bigint not null
);
