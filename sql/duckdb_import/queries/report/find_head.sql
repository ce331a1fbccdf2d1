-- One row, or none: the single values of the report on $token_id.
select
    chain_id, address, block_number, block_hash, block_time_s, scanned_at_s, is_settled, name,
    symbol, decimals, supply_raw, burned_raw, owner_address, ownership_renounced,
    is_open_source, has_open_source_implementation, implementation, timebomb_status,
    transfer_success, send_tax, receive_tax, transfer_checked_at_s, allowance_bypass,
    privileged_spenders, funds_can_be_drained, owner_can_change_balance, is_launchpad_token,
    launchpad_name, creator_address, creator_balance_raw, owner_slots_vacant, clock_block,
    clock_time_s, others_raw
from report
where token_id = $token_id
order by token_id
limit 1
