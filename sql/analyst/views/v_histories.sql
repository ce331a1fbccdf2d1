-- One row per tracked token: how much of its past has been fetched.
create or replace temp view v_histories as
select
    token.chain_id::integer as chain,
    '0x' || lower(hex(token.address)) as token,
    report.symbol,
    token.transfers_from_block,
    coalesce(history.is_whole::boolean or token.transfers_from_block = 0, false) as is_whole,
    coalesce(history.logs, 0) as past_logs,
    coalesce(history.requests, 0) as past_requests
from serving.token
left join serving.history on history.token_id = token.token_id
left join serving.report on report.token_id = token.token_id;
