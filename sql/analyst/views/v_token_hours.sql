-- A token that traded against both a dollar stable and the native coin in one hour shows the price of
-- the coin; the median over such tokens is used. Hours without one take the last known before.
create or replace temp view v_token_hours as
with hourly as (
    select
        chain, token, any_value(symbol) as symbol, quote,
        date_trunc('hour', block_time) as hour,
        count(*) as trades,
        count(*) filter (side = 'sell') as sells,
        sum(quote_amount) as quote_volume,
        arg_min(price, (block_number, log_index)) as first_price,
        arg_max(price, (block_number, log_index)) as last_price,
        min(price) as low_price,
        max(price) as high_price,
        any_value(anchor.is_dollar)::boolean as is_dollar
    from v_swaps swap
    join (
        select chain_id, '0x' || lower(hex(address)) as address, is_dollar
        from serving.quote_token
    ) anchor on anchor.chain_id = swap.chain and anchor.address = swap.quote
    group by chain, token, quote, date_trunc('hour', block_time)
),
implied as (
    select
        coin.chain, coin.quote, coin.hour,
        median(dollar.last_price / nullif(coin.last_price, 0)) as quote_usd
    from hourly coin
    join hourly dollar
        on dollar.chain = coin.chain and dollar.token = coin.token and dollar.hour = coin.hour
    where dollar.is_dollar and not coin.is_dollar
    group by coin.chain, coin.quote, coin.hour
    having quote_usd is not null
),
priced as (
    select
        hourly.*,
        case when hourly.is_dollar then 1.0 else implied.quote_usd end as quote_usd
    from hourly
    asof left join implied
        on implied.chain = hourly.chain and implied.quote = hourly.quote
        and implied.hour <= hourly.hour
)
select
    chain,
    token,
    any_value(symbol) as symbol,
    hour,
    sum(trades)::bigint as trades,
    sum(sells)::bigint as sells,
    case when bool_and(quote_usd is not null) then sum(quote_volume * quote_usd) end as volume_usd,
    arg_max(first_price * quote_usd, trades) as open_usd,
    arg_max(last_price * quote_usd, trades) as close_usd,
    arg_max(low_price * quote_usd, trades) as low_usd,
    arg_max(high_price * quote_usd, trades) as high_usd
from priced
group by chain, token, hour;

comment on view v_token_hours is
    'One row per token and hour with trades: USD price and volume through the quote tokens of its pools.';
comment on column v_token_hours.chain is 'Chain id.';
comment on column v_token_hours.token is 'Address of the token, 0x text in lower case.';
comment on column v_token_hours.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_token_hours.hour is 'Start of the hour, UTC.';
comment on column v_token_hours.trades is 'Trades.';
comment on column v_token_hours.sells is 'Sales among them.';
comment on column v_token_hours.volume_usd is
    'USD of the quote tokens traded. NULL: a quote token has no known price.';
comment on column v_token_hours.open_usd is
    'USD of one token in its first trade against the quote token with most trades. NULL: not known.';
comment on column v_token_hours.close_usd is 'The same in its last trade.';
comment on column v_token_hours.low_usd is 'The lowest price of the hour there.';
comment on column v_token_hours.high_usd is 'The highest price of the hour there.';
