create or replace temp view v_findings as
with other as (
    select
        report.chain_id::integer as chain,
        '0x' || lower(hex(report.address)) as token,
        report.symbol,
        report.is_open_source::boolean::varchar as is_open_source,
        report.has_open_source_implementation::boolean::varchar as has_open_source_implementation,
        report.ownership_renounced::boolean::varchar as ownership_renounced,
        report.timebomb_status,
        report.transfer_success::boolean::varchar as transfer_success,
        report.send_tax::varchar as send_tax,
        report.receive_tax::varchar as receive_tax,
        report.allowance_bypass::boolean::varchar as allowance_bypass,
        report.privileged_spenders,
        report.funds_can_be_drained::boolean::varchar as funds_can_be_drained,
        report.owner_can_change_balance::boolean::varchar as owner_can_change_balance,
        report.is_launchpad_token::boolean::varchar as is_launchpad_token,
        report.launchpad_name
    from serving.report
)
select
    report.chain_id::integer as chain,
    '0x' || lower(hex(report.address)) as token,
    report.symbol,
    finding.key,
    finding.value
from serving.report_finding finding
join serving.report on report.token_id = finding.token_id
union all
select chain, token, symbol, key, value
from other unpivot include nulls (value for key in (columns(* exclude (chain, token, symbol))));

comment on view v_findings is
    'One row per finding of a report, as text: true, false, pending, a number, or a list''s parts joined by spaces.';
comment on column v_findings.chain is 'Chain id.';
comment on column v_findings.token is 'Address of the token, 0x text in lower case.';
comment on column v_findings.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_findings.key is 'Name of the finding, as in the native format.';
comment on column v_findings.value is 'The finding as text. NULL: not known.';
