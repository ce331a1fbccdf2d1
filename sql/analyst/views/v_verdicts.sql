create or replace temp view v_verdicts as
select
    report.chain_id::integer as chain,
    '0x' || lower(hex(report.address)) as token,
    report.symbol,
    judgement.verdict,
    judgement.reasons,
    judgement.danger_checks::integer as danger_flags,
    judgement.warning_checks::integer as warning_flags,
    judgement.info_checks::integer as info_flags,
    judgement.notice_checks::integer as notice_flags,
    judgement.safe_checks::integer as passed_flags,
    judgement.unknown_checks::integer as unknown_flags,
    judgement.has_enough_liquidity::boolean as has_enough_liquidity,
    judgement.liquidity_usd,
    judgement.can_buy::boolean as can_buy,
    judgement.can_sell::boolean as can_sell,
    judgement.pools::integer as pools,
    judgement.buy_tax as buy_tax_pct,
    judgement.sell_tax as sell_tax_pct,
    report.block_number as report_block,
    make_timestamp(report.block_time_s * 1000000) as report_block_time,
    make_timestamp(report.scanned_at_s * 1000000) as scanned_at,
    report.is_settled::boolean as is_settled,
    check_catalogue.policy as judged_by
from serving.judgement
join serving.report on report.token_id = judgement.token_id
join serving.check_catalogue on check_catalogue.catalogue_id = judgement.catalogue_id;

comment on view v_verdicts is
    'One row per judged report: verdict and counts of the summary, as the API gave them when the report was made.';
comment on column v_verdicts.chain is 'Chain id.';
comment on column v_verdicts.token is 'Address of the token, 0x text in lower case.';
comment on column v_verdicts.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_verdicts.verdict is
    'danger, warning, safe or not_tested; safe speaks of what was tested alone.';
comment on column v_verdicts.reasons is
    'Every cause that holds, the most severe first, joined by spaces; empty: the verdict is safe.';
comment on column v_verdicts.danger_flags is 'Checks with the status danger.';
comment on column v_verdicts.warning_flags is 'Checks with the status warning.';
comment on column v_verdicts.info_flags is 'Checks with the status info.';
comment on column v_verdicts.notice_flags is 'Checks with the status notice.';
comment on column v_verdicts.passed_flags is 'Checks that ran and found nothing.';
comment on column v_verdicts.unknown_flags is 'Checks without an answer; never a pass.';
comment on column v_verdicts.has_enough_liquidity is
    'Whether the deepest pool holds more than the minimum. NULL: not known.';
comment on column v_verdicts.liquidity_usd is
    'USD of all pools, both sides. NULL: no pool was found, or what one holds is not known.';
comment on column v_verdicts.can_buy is
    'Whether a simulated buy passed in a pool. NULL: none was settled.';
comment on column v_verdicts.can_sell is
    'Whether a simulated sale passed in a pool. NULL: none was settled.';
comment on column v_verdicts.pools is 'Number of pools found.';
comment on column v_verdicts.buy_tax_pct is
    'Tax on a buy from the deepest pool, in percent. NULL: there is no figure.';
comment on column v_verdicts.sell_tax_pct is
    'Tax on a sale into the deepest pool, in percent. NULL: there is no figure.';
comment on column v_verdicts.report_block is 'Block that the report is of.';
comment on column v_verdicts.report_block_time is 'Time of that block, UTC.';
comment on column v_verdicts.scanned_at is
    'When the analysis ended, and the moment that the verdict is of, UTC.';
comment on column v_verdicts.is_settled is 'FALSE: a part was still running when this was written.';
comment on column v_verdicts.judged_by is
    'Release, digest of its checks, and the settings that the verdict depends on.';
