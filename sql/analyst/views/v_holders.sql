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

comment on view v_holders is
    'One row per holder that a report lists, by role.';
comment on column v_holders.chain is 'Chain id.';
comment on column v_holders.token is 'Address of the token, 0x text in lower case.';
comment on column v_holders.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_holders.role is 'top, or burn for a burn address.';
comment on column v_holders.ordinal is 'Rank within the role, the largest first, from 0.';
comment on column v_holders.owner is 'Address of the holder.';
comment on column v_holders.amount is
    'Balance at the report''s block in whole tokens, as a floating-point number.';
comment on column v_holders.held_pct is
    'Share of the supply, in percent. NULL: the supply is zero.';
