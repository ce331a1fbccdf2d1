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

comment on view v_pool_results is
    'One row per pool of a report, the deepest thousand of a token.';
comment on column v_pool_results.chain is 'Chain id.';
comment on column v_pool_results.token is 'Address of the token, 0x text in lower case.';
comment on column v_pool_results.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_pool_results.ordinal is 'Rank by depth, from 0.';
comment on column v_pool_results.dex is 'Name of the exchange.';
comment on column v_pool_results.kind is
    'Kind of the pool, as liquidity_type of the native format.';
comment on column v_pool_results.pool is 'Address of the pool, or of the contract that holds it.';
comment on column v_pool_results.pool_id is
    'Id of the pool where one contract holds many. NULL: the pool is a contract of its own.';
comment on column v_pool_results.quote is
    'The side that is not the token; the zero address is the native coin.';
comment on column v_pool_results.liquidity_usd is 'USD of both sides; 0 where it is not valued.';
comment on column v_pool_results.quote_side_usd is
    'USD of the side that is not the token; 0 where it is not valued.';
comment on column v_pool_results.buy is
    'Simulated buy: passed, refused or pending. NULL: not tried.';
comment on column v_pool_results.buy_tax_pct is 'Tax on the buy, in percent. NULL: not measured.';
comment on column v_pool_results.sell is
    'Simulated sale: passed, refused or pending. NULL: not tried.';
comment on column v_pool_results.sell_tax_pct is 'Tax on the sale, in percent. NULL: not measured.';
comment on column v_pool_results.error_code is
    'Why nothing was simulated, or what the simulation ran into. NULL: nothing.';
comment on column v_pool_results.error_message is 'The same in words, which can change.';
comment on column v_pool_results.is_launchpad is
    'Whether the pool is a platform''s own. NULL: not known.';
