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

comment on view v_tokens is
    'One row per tracked token, with what its report says.';
comment on column v_tokens.chain is 'Chain id.';
comment on column v_tokens.address is 'Address of the token, 0x text in lower case.';
comment on column v_tokens.name is
    'Name that the token gives itself. NULL from here on: there is no report.';
comment on column v_tokens.symbol is 'Symbol that it gives itself.';
comment on column v_tokens.decimals is 'Decimals.';
comment on column v_tokens.supply is 'Total supply in whole tokens, as a floating-point number.';
comment on column v_tokens.burned_supply is 'Held by burn addresses, in whole tokens.';
comment on column v_tokens.owner_address is 'Owner. NULL: none, or not known.';
comment on column v_tokens.ownership_renounced is
    'Whether nobody is the owner any more. NULL: not known.';
comment on column v_tokens.creator_address is 'Who created the contract. NULL: not known yet.';
comment on column v_tokens.creator_balance is
    'What the creator holds, in whole tokens. NULL: not known.';
comment on column v_tokens.is_launchpad_token is
    'Whether a launch platform made it. NULL: not known.';
comment on column v_tokens.launchpad_name is 'Name of that platform. NULL: none.';
comment on column v_tokens.tracked_because is 'pool, launch or request.';
comment on column v_tokens.first_seen_block is 'Block where it was first seen.';
comment on column v_tokens.transfers_from_block is
    'First block from which on all transfers are stored; 0: all there ever were. NULL: none are stored.';
comment on column v_tokens.report_block is 'Block that the report is of.';
comment on column v_tokens.report_block_time is 'Time of that block, UTC.';
comment on column v_tokens.scanned_at is 'When the analysis ended, UTC.';
comment on column v_tokens.is_settled is 'FALSE: a part was still running when this was written.';
comment on column v_tokens.refused_with is 'Why it was refused as a token. NULL: it was not.';
