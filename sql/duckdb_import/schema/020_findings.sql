-- Findings as rows of key and value, so that a new field needs no new column: the fields that
-- core/fields declares, with their values as text ('true', 'false', 'pending', a list's parts joined
-- by spaces). NULL is unknown. The bodies had these findings elsewhere; the tables are read instead.

create table report_finding (
    token_id integer not null,
    key varchar not null,
    value varchar
);

insert into report_finding
select token_id, key, value
from (
    select
        token_id,
        mint_or_burn_function::varchar as mint_or_burn_function,
        can_selfdestruct::varchar as can_selfdestruct,
        transfer_guarded_by_storage::varchar as transfer_guarded_by_storage,
        transfer_from_guarded_by_storage::varchar as transfer_from_guarded_by_storage,
        trading_cooldown::varchar as trading_cooldown,
        view_function_modifies_state::varchar as view_function_modifies_state,
        has_trading_cap::varchar as has_trading_cap,
        has_trading_cap_functionality::varchar as has_trading_cap_functionality,
        trading_cap_can_be_modified::varchar as trading_cap_can_be_modified,
        has_position_cap::varchar as has_position_cap,
        has_position_cap_functionality::varchar as has_position_cap_functionality,
        position_cap_can_be_modified::varchar as position_cap_can_be_modified,
        has_owner_functionality::varchar as has_owner_functionality,
        has_pause_functionality::varchar as has_pause_functionality,
        pause_status_can_be_modified::varchar as pause_status_can_be_modified,
        has_blacklist_or_whitelist::varchar as has_blacklist_or_whitelist,
        external_call::varchar as external_call,
        timebomb::varchar as timebomb,
        has_tax_functionality::varchar as has_tax_functionality,
        tax_can_be_modified::varchar as tax_can_be_modified,
        is_proxy::varchar as is_proxy,
        array_to_string(balance_update_function, ' ') as balance_update_function,
        array_to_string(allowance_update_function, ' ') as allowance_update_function
    from report_static
)
unpivot include nulls (value for key in (columns(* exclude (token_id))));

insert into report_finding
select token_id, key, value
from (
    select
        token_id,
        sell_blocked_later::varchar as sell_blocked_later,
        sell_tax_rises::varchar as sell_tax_rises,
        sell_depends_on_size::varchar as sell_depends_on_size,
        sell_blocked_after_others::varchar as sell_blocked_after_others,
        sell_depends_on_conditions::varchar as sell_depends_on_conditions,
        untested_conditions::varchar as untested_conditions,
        hidden_owner_controls::varchar as hidden_owner_controls,
        unproved_custody::varchar as unproved_custody,
        creates_balances::varchar as creates_balances
    from report
)
unpivot include nulls (value for key in (columns(* exclude (token_id))));

drop view v_findings;
drop table report_static;

-- An indexed table cannot lose columns.
drop index if exists report_by_token;
alter table report drop column sell_blocked_later;
alter table report drop column sell_tax_rises;
alter table report drop column sell_depends_on_size;
alter table report drop column sell_blocked_after_others;
alter table report drop column sell_depends_on_conditions;
alter table report drop column untested_conditions;
alter table report drop column hidden_owner_controls;
alter table report drop column unproved_custody;
alter table report drop column creates_balances;

delete from report_body;

-- Speed only, as in 007.
create index report_by_token on report (token_id);
create index report_finding_by_token on report_finding (token_id);

create view v_findings as
with other as (
    select
        report.chain_id as chain,
        report.address as token,
        report.symbol,
        report.is_open_source::varchar as is_open_source,
        report.has_open_source_implementation::varchar as has_open_source_implementation,
        report.ownership_renounced::varchar as ownership_renounced,
        report.timebomb_status,
        report.transfer_success::varchar as transfer_success,
        report.send_tax::varchar as send_tax,
        report.receive_tax::varchar as receive_tax,
        report.allowance_bypass::varchar as allowance_bypass,
        array_to_string(report.privileged_spenders, ' ') as privileged_spenders,
        report.funds_can_be_drained::varchar as funds_can_be_drained,
        report.owner_can_change_balance::varchar as owner_can_change_balance,
        report.is_launchpad_token::varchar as is_launchpad_token,
        report.launchpad_name
    from report
)
select report.chain_id as chain, report.address as token, report.symbol, finding.key, finding.value
from report_finding finding
join report on report.token_id = finding.token_id
union all
select chain, token, symbol, key, value
from other unpivot include nulls (value for key in (columns(* exclude (chain, token, symbol))));
