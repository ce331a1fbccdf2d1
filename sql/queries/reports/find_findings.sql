-- One row, or none: the static findings of the report on $token_id.
select
    mint_or_burn_function, can_selfdestruct, transfer_guarded_by_storage,
    transfer_from_guarded_by_storage, trading_cooldown, view_function_modifies_state,
    has_trading_cap, has_trading_cap_functionality, trading_cap_can_be_modified,
    has_position_cap, has_position_cap_functionality, position_cap_can_be_modified,
    has_owner_functionality, has_pause_functionality, pause_status_can_be_modified,
    has_blacklist_or_whitelist, external_call, timebomb, has_tax_functionality,
    tax_can_be_modified, is_proxy, balance_update_function, allowance_update_function
from report_static
where token_id = $token_id
order by token_id
limit 1
