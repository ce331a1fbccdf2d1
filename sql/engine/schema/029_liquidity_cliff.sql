-- Withdrawals that took more than half of a pool's tokens.

create table liquidity_cliff (
    chain_id integer not null,
    block_number integer not null,
    log_index integer not null,
    token blob not null,
    pool blob not null,
    -- name of the exchange
    source text not null,
    time_s integer not null,
    -- null: the node sent none
    tx_hash blob,
    left_pct real not null,
    primary key (chain_id, block_number, log_index)
);
create index liquidity_cliff_by_token on liquidity_cliff (chain_id, token, block_number);
create index liquidity_cliff_by_time on liquidity_cliff (chain_id, time_s);
