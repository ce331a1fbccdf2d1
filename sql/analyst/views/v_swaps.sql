create or replace temp view v_swaps as
with sided as (
    select
        trade.*,
        quote.symbol as quote_symbol,
        quote.decimals as quote_decimals,
        quote.is_dollar,
        case quote.side when 0 then trade.token1 else trade.token0 end as token,
        case quote.side when 0 then trade.token0 else trade.token1 end as quote,
        case quote.side when 0 then trade.amount1_raw else trade.amount0_raw end as token_in,
        case quote.side when 0 then trade.amount0_raw else trade.amount1_raw end as quote_in
    from v_trades trade
    join (
        select
            chain_id, '0x' || lower(hex(address)) as address, symbol, decimals, is_dollar,
            unnest([0, 1]) as side
        from serving.quote_token
    ) quote
        on quote.chain_id = trade.chain
        and quote.address = case quote.side when 0 then trade.token0 else trade.token1 end
),
known as (
    select chain_id, '0x' || lower(hex(address)) as address, symbol, decimals from serving.report
)
select
    sided.chain,
    sided.block_number,
    sided.log_index,
    sided.block_time,
    sided.dex,
    sided.kind,
    sided.pool_key,
    sided.token,
    known.symbol,
    sided.quote,
    sided.quote_symbol,
    case when sided.token_in > 0 then 'sell' else 'buy' end as side,
    abs(sided.token_in) / 10.0 ** known.decimals as token_amount,
    abs(sided.quote_in) / 10.0 ** sided.quote_decimals as quote_amount,
    quote_amount / nullif(token_amount, 0) as price,
    case when sided.is_dollar::boolean then price end as price_usd,
    abs(sided.token_in) as token_amount_raw,
    abs(sided.quote_in) as quote_amount_raw,
    sided.trader,
    sided.tx_hash
from sided
left join known on known.chain_id = sided.chain and known.address = sided.token;

comment on view v_swaps is
    'One row per trade, as the trader saw it: the token against the quote token, in whole tokens, with its price.';
comment on column v_swaps.chain is 'Chain id.';
comment on column v_swaps.block_number is 'Block of the event.';
comment on column v_swaps.log_index is 'Place of the event''s log in its block.';
comment on column v_swaps.block_time is 'Time of the block, UTC.';
comment on column v_swaps.dex is 'Name of the exchange.';
comment on column v_swaps.kind is 'Kind of the pool, as liquidity_type of the native format.';
comment on column v_swaps.pool_key is
    'Address of the pool, or its id where one contract holds many.';
comment on column v_swaps.token is 'Address of the token, 0x text in lower case.';
comment on column v_swaps.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_swaps.quote is 'Address of the quote token.';
comment on column v_swaps.quote_symbol is 'Its symbol.';
comment on column v_swaps.side is 'buy or sell of the token.';
comment on column v_swaps.token_amount is
    'Tokens traded, as a floating-point number. NULL: the decimals are not known, as there is no report.';
comment on column v_swaps.quote_amount is 'Quote tokens traded.';
comment on column v_swaps.price is
    'Quote tokens for one token, fees included. NULL: an amount is not known, or zero.';
comment on column v_swaps.price_usd is
    'The same where the quote token is a dollar stable. NULL elsewhere.';
comment on column v_swaps.token_amount_raw is
    'Tokens traded in smallest units, as a floating-point number, which is exact up to 2^53.';
comment on column v_swaps.quote_amount_raw is 'The same of the quote token.';
comment on column v_swaps.trader is
    'Account that traded, 0x text in lower case. NULL: the logs name none, or several; or a release before 0.5.0 wrote the row.';
comment on column v_swaps.tx_hash is
    'Hash of the transaction. NULL: the node did not send it, or a release before 0.5.0 wrote the row.';
