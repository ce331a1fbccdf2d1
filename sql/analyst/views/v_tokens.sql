-- One row per tracked token, with what its report says.
create or replace temp view v_tokens as
select
    token.chain_id::integer as chain,
    '0x' || lower(hex(token.address)) as address,
    report.name,
    report.symbol,
    report.decimals,
    report.supply_raw::double / 10.0 ** report.decimals as supply,
    report.burned_raw::double / 10.0 ** report.decimals as burned_supply,
    '0x' || lower(hex(report.owner_address)) as owner_address,
    report.ownership_renounced::boolean as ownership_renounced,
    '0x' || lower(hex(report.creator_address)) as creator_address,
    report.creator_balance_raw::double / 10.0 ** report.decimals as creator_balance,
    report.is_launchpad_token::boolean as is_launchpad_token,
    report.launchpad_name,
    token.tracked_because,
    token.first_seen_block,
    token.transfers_from_block,
    report.block_number as report_block,
    make_timestamp(report.block_time_s * 1000000) as report_block_time,
    make_timestamp(report.scanned_at_s * 1000000) as scanned_at,
    report.is_settled::boolean as is_settled,
    refusal.code as refused_with
from serving.token
left join serving.report on report.token_id = token.token_id
left join serving.refusal on refusal.token_id = token.token_id;
