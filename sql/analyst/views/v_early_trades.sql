create or replace temp view v_early_trades as
select
    early.chain_id::integer as chain,
    '0x' || lower(hex(token.address)) as token,
    report.symbol,
    early.block_number,
    early.log_index::integer as log_index,
    make_timestamp(early.time_s * 1000000) as block_time,
    case when early.is_sale = 1 then 'sell' else 'buy' end as side,
    '0x' || lower(hex(early.trader)) as trader,
    '0x' || lower(hex(early.tx_hash)) as tx_hash,
    early.amount as token_amount_raw,
    100.0 * early.amount / nullif(report.supply_raw::double, 0) as supply_pct
from serving.early_trade early
join serving.token on token.token_id = early.token_id
left join serving.report on report.token_id = early.token_id;

comment on view v_early_trades is
    'One row per trade of a token''s first ten minutes, up to 200, and per later trade of the accounts around its launch, up to 40 each; for tokens whose first pool was followed.';
comment on column v_early_trades.chain is 'Chain id.';
comment on column v_early_trades.token is 'Address of the token, 0x text in lower case.';
comment on column v_early_trades.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_early_trades.block_number is 'Block of the event.';
comment on column v_early_trades.log_index is 'Place of the event''s log in its block.';
comment on column v_early_trades.block_time is 'Time of the block, UTC.';
comment on column v_early_trades.side is 'buy or sell of the token.';
comment on column v_early_trades.trader is
    'Account that traded, 0x text in lower case. NULL: the logs name none, or several.';
comment on column v_early_trades.tx_hash is 'Hash of the transaction.';
comment on column v_early_trades.token_amount_raw is
    'Tokens that the pool received or paid out, in smallest units, as a floating-point number.';
comment on column v_early_trades.supply_pct is
    'The same in percent of the supply. NULL: there is no report, or the supply is zero.';
