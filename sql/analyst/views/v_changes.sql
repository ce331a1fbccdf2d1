create or replace temp view v_changes as
with change as (
    select
        chain_id, token_id, block_number, scanned_at_s,
        unnest(from_json(changes, '[["VARCHAR"]]')) as parts
    from serving.report_history
    where changes is not null
)
select
    change.chain_id::integer as chain,
    '0x' || lower(hex(token.address)) as token,
    report.symbol,
    make_timestamp(change.scanned_at_s * 1000000) as scanned_at,
    change.block_number,
    change.parts[1] as what,
    change.parts[2] as before,
    change.parts[3] as after
from change
join serving.token on token.token_id = change.token_id
left join serving.report on report.token_id = change.token_id;

comment on view v_changes is
    'One row per thing that a report says differently from the report before it.';
comment on column v_changes.chain is 'Chain id.';
comment on column v_changes.token is 'Address of the token, 0x text in lower case.';
comment on column v_changes.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_changes.scanned_at is 'When the analysis ended that noticed it, UTC.';
comment on column v_changes.block_number is 'Block that the report is of.';
comment on column v_changes.what is
    'What changed: a check as flag.<key>, verdict, liquidity_usd (when it moved by a tenth), a tax in percent, owner_address and others.';
comment on column v_changes.before is
    'What the report before said, as text. NULL: not known, or none.';
comment on column v_changes.after is 'What this report says, as text. NULL: not known, or none.';
