-- One row per pool of the report on $token_id, deepest first.
select
    ordinal, pool, pool_id, kind, dex, quote, liquidity_usd, quote_side_usd, buy, buy_tax,
    sell, sell_tax, error_code, error_message, is_launchpad, token_usd
from report_pool
where token_id = $token_id
order by ordinal
