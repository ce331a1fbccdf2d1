-- One row per holder that a report lists, by role.
create or replace temp view v_holders as
select
    report.chain_id::integer as chain,
    '0x' || lower(hex(report.address)) as token,
    report.symbol,
    report_holder.role,
    report_holder.ordinal::integer as ordinal,
    '0x' || lower(hex(report_holder.owner)) as owner,
    report_holder.amount_raw::double / 10.0 ** report.decimals as amount,
    case
        when report.supply_raw <> '0'
        then 100.0 * report_holder.amount_raw::double / report.supply_raw::double
    end as held_pct
from serving.report_holder
join serving.report on report.token_id = report_holder.token_id;
