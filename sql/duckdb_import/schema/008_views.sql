-- What analysts read: addresses as 0x text, amounts as numbers in whole units, percent as percent.
-- chain is the numeric chain id. NULL is unknown, never "no".

create view v_tokens as
select
    token.chain_id as chain,
    token.address,
    report.name,
    report.symbol,
    report.decimals,
    report.supply_raw::double / 10.0 ** report.decimals as supply,
    report.burned_raw::double / 10.0 ** report.decimals as burned_supply,
    report.owner_address,
    report.ownership_renounced,
    report.creator_address,
    report.creator_balance_raw::double / 10.0 ** report.decimals as creator_balance,
    report.is_launchpad_token,
    report.launchpad_name,
    token.tracked_because,
    token.first_seen_block,
    token.transfers_from_block,
    report.block_number as report_block,
    make_timestamp(report.block_time_s * 1000000) as report_block_time,
    make_timestamp(report.scanned_at_s * 1000000) as scanned_at,
    report.is_settled,
    refusal.code as refused_with
from token
left join report on report.token_id = token.token_id
left join refusal on refusal.token_id = token.token_id;

create view v_pools as
select
    pool.chain_id as chain,
    pool.dex,
    pool.kind,
    pool.variant,
    pool.pool,
    pool.pool_id,
    pool.factory,
    pool.token0,
    pool.token1,
    pool.fee / case when pool.kind in ('AmmV2', 'Solid') then 100.0 else 10000.0 end as fee_pct,
    pool.tick_spacing,
    pool.stable,
    pool.hooks,
    pool.block_number,
    pool.log_index
from pool;

create view v_pool_results as
select
    report.chain_id as chain,
    report.address as token,
    report.symbol,
    report_pool.ordinal,
    report_pool.dex,
    report_pool.kind,
    report_pool.pool,
    report_pool.pool_id,
    report_pool.quote,
    report_pool.liquidity_usd,
    report_pool.quote_side_usd,
    report_pool.buy,
    report_pool.buy_tax as buy_tax_pct,
    report_pool.sell,
    report_pool.sell_tax as sell_tax_pct,
    report_pool.error_code,
    report_pool.error_message,
    report_pool.is_launchpad
from report_pool
join report on report.token_id = report_pool.token_id;

create view v_holders as
select
    report.chain_id as chain,
    report.address as token,
    report.symbol,
    report_holder.role,
    report_holder.ordinal,
    report_holder.owner,
    report_holder.amount_raw::double / 10.0 ** report.decimals as amount,
    case
        when report.supply_raw <> '0'
        then 100.0 * report_holder.amount_raw::double / report.supply_raw::double
    end as held_pct
from report_holder
join report on report.token_id = report_holder.token_id;

create view v_transfers as
select
    transfer.chain_id as chain,
    transfer.block_number,
    transfer.log_index,
    token.address as token,
    report.symbol,
    sender.address as sender,
    recipient.address as recipient,
    transfer.amount / 10.0 ** report.decimals as amount,
    transfer.amount as amount_raw
from transfer
join token on token.token_id = transfer.token_id
join address sender on sender.address_id = transfer.sender_id
join address recipient on recipient.address_id = transfer.recipient_id
left join report on report.token_id = transfer.token_id;

create view v_coverage as
select
    chain_id as chain,
    subject,
    from_block,
    to_block,
    to_block - from_block + 1 as blocks
from coverage;

create view v_checkpoints as
select
    checkpoint.chain_id as chain,
    checkpoint.stream,
    checkpoint.number,
    checkpoint.hash,
    make_timestamp(block.time_s * 1000000) as block_time
from checkpoint
left join block
    on block.chain_id = checkpoint.chain_id and block.number = checkpoint.number;

create view v_findings as
with value as (
    select
        report.chain_id as chain,
        report.address as token,
        report.symbol,
        static.mint_or_burn_function::varchar as mint_or_burn_function,
        static.can_selfdestruct::varchar as can_selfdestruct,
        static.transfer_guarded_by_storage::varchar as transfer_guarded_by_storage,
        static.transfer_from_guarded_by_storage::varchar as transfer_from_guarded_by_storage,
        static.trading_cooldown::varchar as trading_cooldown,
        static.view_function_modifies_state::varchar as view_function_modifies_state,
        static.has_trading_cap::varchar as has_trading_cap,
        static.has_trading_cap_functionality::varchar as has_trading_cap_functionality,
        static.trading_cap_can_be_modified,
        static.has_position_cap::varchar as has_position_cap,
        static.has_position_cap_functionality::varchar as has_position_cap_functionality,
        static.position_cap_can_be_modified,
        static.has_owner_functionality::varchar as has_owner_functionality,
        static.has_pause_functionality::varchar as has_pause_functionality,
        static.pause_status_can_be_modified,
        static.has_blacklist_or_whitelist::varchar as has_blacklist_or_whitelist,
        static.external_call::varchar as external_call,
        static.timebomb,
        static.has_tax_functionality::varchar as has_tax_functionality,
        static.tax_can_be_modified::varchar as tax_can_be_modified,
        static.is_proxy::varchar as is_proxy,
        array_to_string(static.balance_update_function, ' ') as balance_update_function,
        array_to_string(static.allowance_update_function, ' ') as allowance_update_function,
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
    join report_static static on static.token_id = report.token_id
)
select chain, token, symbol, key, value
from value unpivot include nulls (value for key in (columns(* exclude (chain, token, symbol))));
