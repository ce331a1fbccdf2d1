create or replace temp view v_outcomes as
select
    token_outcome.chain_id::integer as chain,
    '0x' || lower(hex(token_outcome.address)) as token,
    token_outcome.findings,
    token_outcome.is_trapped::boolean as is_trapped,
    token_outcome.block_number
from serving.token_outcome;

comment on view v_outcomes is
    'One row per token that a recorded backtest scored and that had an attempted sale: its findings before its first trade, and the outcome of its first day.';
comment on column v_outcomes.chain is 'Chain id.';
comment on column v_outcomes.token is 'Address of the token, 0x text in lower case.';
comment on column v_outcomes.findings is
    'Keys of the checks that found something before the first trade, joined by commas; also sell_failed, buy_failed and no_liquidity. Empty: nothing was found.';
comment on column v_outcomes.is_trapped is
    'true: a buyer was trapped within a day of the first trade. false: buyers sold, and none was trapped.';
comment on column v_outcomes.block_number is 'Block of the findings.';
