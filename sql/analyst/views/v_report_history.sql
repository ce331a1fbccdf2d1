create or replace temp view v_report_history as
select
    entry.chain_id::integer as chain,
    '0x' || lower(hex(token.address)) as token,
    report.symbol,
    make_timestamp(entry.scanned_at_s * 1000000) as scanned_at,
    entry.block_number,
    entry.verdict,
    entry.liquidity_usd,
    entry.buy_tax as buy_tax_pct,
    entry.sell_tax as sell_tax_pct,
    entry.changes is null as is_first,
    coalesce(json_array_length(entry.changes), 0)::integer as changes
from serving.report_history entry
join serving.token on token.token_id = entry.token_id
left join serving.report on report.token_id = entry.token_id;

comment on view v_report_history is
    'One row per settled report within the retention (indexer.history_kept_s), also those that were replaced since.';
comment on column v_report_history.chain is 'Chain id.';
comment on column v_report_history.token is 'Address of the token, 0x text in lower case.';
comment on column v_report_history.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_report_history.scanned_at is 'When the analysis ended, UTC.';
comment on column v_report_history.block_number is 'Block that the report is of.';
comment on column v_report_history.verdict is 'Verdict of its summary.';
comment on column v_report_history.liquidity_usd is 'USD of all pools. NULL: not known.';
comment on column v_report_history.buy_tax_pct is
    'Tax on a buy from the deepest pool, in percent. NULL: there is no figure.';
comment on column v_report_history.sell_tax_pct is
    'Tax on a sale into the deepest pool, in percent. NULL: there is no figure.';
comment on column v_report_history.is_first is
    'Whether there is no report before it to compare with.';
comment on column v_report_history.changes is
    'How many things it says differently from the report before; see v_changes.';
