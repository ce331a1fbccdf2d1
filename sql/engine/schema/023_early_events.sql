-- Traders and transactions of trades, and the first trades and transfers of tokens whose first pool
-- was followed, for launch forensics.

-- null: the logs name no trader, or several; or an earlier release wrote the row
alter table trade add column trader blob;
alter table trade add column tx_hash blob;
alter table final_trade add column trader blob;
alter table final_trade add column tx_hash blob;

-- The first trades of a token, and later ones of accounts that are among its first buyers or
-- recipients, a bounded number of each. Unwound with their blocks.
create table early_trade (
    token_id integer not null,
    block_number integer not null,
    log_index integer not null,
    chain_id integer not null,
    time_s integer not null,
    is_sale integer not null,
    -- null: the logs name no trader, or several
    trader blob,
    tx_hash blob not null,
    -- smallest units of the token that the pool received or paid out
    amount real not null,
    primary key (token_id, block_number, log_index)
) without rowid;
create index early_trade_by_trader on early_trade (token_id, trader);
create index early_trade_by_block on early_trade (chain_id, block_number);

-- The first transfers of a token that its pools do not send.
create table early_transfer (
    token_id integer not null,
    block_number integer not null,
    log_index integer not null,
    chain_id integer not null,
    sender blob not null,
    recipient blob not null,
    amount blob not null,
    tx_hash blob not null,
    -- newest block when it was stored: trades of the recipient count from here on
    known_block integer not null,
    primary key (token_id, block_number, log_index)
) without rowid;
create index early_transfer_by_recipient on early_transfer (token_id, recipient);
create index early_transfer_by_block on early_transfer (chain_id, block_number);
