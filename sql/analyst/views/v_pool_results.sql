-- One row per pool of a report.
create or replace temp view v_pool_results as
select
    report.chain_id::integer as chain,
    '0x' || lower(hex(report.address)) as token,
    report.symbol,
    report_pool.ordinal::integer as ordinal,
    report_pool.dex,
    report_pool.kind,
    '0x' || lower(hex(report_pool.pool)) as pool,
    '0x' || lower(hex(report_pool.pool_id)) as pool_id,
    '0x' || lower(hex(report_pool.quote)) as quote,
    report_pool.liquidity_usd,
    report_pool.quote_side_usd,
    report_pool.buy,
    report_pool.buy_tax as buy_tax_pct,
    report_pool.sell,
    report_pool.sell_tax as sell_tax_pct,
    report_pool.error_code,
    report_pool.error_message,
    report_pool.is_launchpad::boolean as is_launchpad
from serving.report_pool
join serving.report on report.token_id = report_pool.token_id;
