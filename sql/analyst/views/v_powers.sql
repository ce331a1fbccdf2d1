create or replace temp view v_powers as
select
    report.chain_id::integer as chain,
    '0x' || lower(hex(report.address)) as token,
    report.symbol,
    power.ordinal::integer as ordinal,
    power.what,
    power.holder_kind,
    '0x' || lower(hex(power.holder)) as holder,
    power.bound,
    power.detail,
    power.functions,
    power.check_key as finding,
    power.is_harmless::boolean as is_harmless,
    power.is_bound::boolean as is_bound,
    make_timestamp(report.scanned_at_s * 1000000) as scanned_at
from serving.report_power power
join serving.report on report.token_id = power.token_id;

comment on view v_powers is
    'One row per power over a token, with its holder, by the newest report.';
comment on column v_powers.chain is 'Chain id.';
comment on column v_powers.token is 'Address of the token, 0x text in lower case.';
comment on column v_powers.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_powers.ordinal is 'Place among the powers of the token, from 0.';
comment on column v_powers.what is
    'stop, block, cap, tax, mint, burn, take, condition or replace, as in the summary.';
comment on column v_powers.holder_kind is
    'nobody, holders, trades, multisig, timelock, contract, wallet, list, anybody or unknown.';
comment on column v_powers.holder is
    'Address of the holder, 0x text in lower case. NULL: no single account is named.';
comment on column v_powers.bound is 'none, low, unreachable or tight.';
comment on column v_powers.detail is
    'Members of a multisig, delay of a timelock, or the bound, in words. NULL: there is none.';
comment on column v_powers.functions is
    'Selectors of the functions that use it, joined by spaces.';
comment on column v_powers.finding is 'Finding or check that it explains, a key of v_findings or v_flags.';
comment on column v_powers.is_harmless is
    'It cannot hurt a holder: dead, over the own tokens, small, or out of reach.';
comment on column v_powers.is_bound is
    'Its holder cannot act alone and at once: a multisig or a timelock.';
comment on column v_powers.scanned_at is 'When the analysis ended, UTC.';
