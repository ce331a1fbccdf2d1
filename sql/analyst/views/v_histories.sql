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

comment on view v_histories is
    'One row per tracked token: how much of its past has been fetched.';
comment on column v_histories.chain is 'Chain id.';
comment on column v_histories.token is 'Address of the token, 0x text in lower case.';
comment on column v_histories.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_histories.transfers_from_block is
    'First block from which on all transfers are stored; 0: all there ever were. NULL: none are stored.';
comment on column v_histories.is_whole is 'Whether the stored transfers are all there ever were.';
comment on column v_histories.past_logs is 'Logs that were fetched of its past.';
comment on column v_histories.past_requests is 'Node requests spent on its past.';
