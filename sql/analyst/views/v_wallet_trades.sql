create or replace temp view v_wallet_trades as
with gaps as (
    select
        *,
        epoch(block_time) - lag(epoch(block_time)) over (
            partition by chain, token, trader order by block_number, log_index
        ) as gap_s
    from v_swaps
    where trader is not null
)
select
    chain,
    token,
    any_value(symbol) as symbol,
    trader,
    count(*) filter (side = 'buy') as buys,
    count(*) filter (side = 'sell') as sells,
    sum(token_amount_raw) filter (side = 'buy') as bought_raw,
    sum(token_amount_raw) filter (side = 'sell') as sold_raw,
    sum(token_amount_raw) as traded_raw,
    min(block_time) as first_time,
    max(block_time) as last_time,
    coalesce(
        buys > 1 and sells > 1 and abs(bought_raw - sold_raw) <= 0.1 * traded_raw, false
    ) as is_round_trip,
    coalesce(
        count(*) >= 5 and (
            stddev_pop(gap_s) <= 0.1 * avg(gap_s)
            or count(distinct quote_amount_raw) = 1
        ),
        false
    ) as is_mechanical
from gaps
group by chain, token, trader;

comment on view v_wallet_trades is
    'One row per token and account that traded it, of stored trades whose logs name the trader.';
comment on column v_wallet_trades.chain is 'Chain id.';
comment on column v_wallet_trades.token is 'Address of the token, 0x text in lower case.';
comment on column v_wallet_trades.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_wallet_trades.trader is 'Address of the account.';
comment on column v_wallet_trades.buys is 'Purchases.';
comment on column v_wallet_trades.sells is 'Sales.';
comment on column v_wallet_trades.bought_raw is
    'Tokens bought, in smallest units. NULL: none.';
comment on column v_wallet_trades.sold_raw is 'Tokens sold, in smallest units. NULL: none.';
comment on column v_wallet_trades.traded_raw is 'Tokens of both.';
comment on column v_wallet_trades.first_time is 'Time of its first stored trade, UTC.';
comment on column v_wallet_trades.last_time is 'Time of its last stored trade, UTC.';
comment on column v_wallet_trades.is_round_trip is
    'At least two purchases and two sales that cancel out up to a tenth of what it traded, as in wash trading.';
comment on column v_wallet_trades.is_mechanical is
    'At least five trades at equal intervals, up to a tenth, or all of one amount.';
