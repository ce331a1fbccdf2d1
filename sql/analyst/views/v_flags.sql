create or replace temp view v_flags as
with catalogue as (
    select
        catalogue_id,
        unnest(string_split(keys, ' ')) as flag,
        unnest(string_split(severities, ' ')) as severity,
        unnest(string_split(labels, chr(10))) as label,
        unnest(range(1, len(string_split(keys, ' ')) + 1)) as place
    from serving.check_catalogue
)
select
    report.chain_id::integer as chain,
    '0x' || lower(hex(report.address)) as token,
    report.symbol,
    catalogue.flag,
    catalogue.label,
    catalogue.severity,
    case judgement.statuses[catalogue.place]
        when 'd' then 'danger'
        when 'w' then 'warning'
        when 'i' then 'info'
        when 'n' then 'notice'
        when 's' then 'safe'
        else 'unknown'
    end as status,
    case judgement.outcomes[catalogue.place] when 't' then true when 'f' then false end as value,
    make_timestamp(report.scanned_at_s * 1000000) as scanned_at
from serving.judgement
join serving.report on report.token_id = judgement.token_id
join catalogue on catalogue.catalogue_id = judgement.catalogue_id;

comment on view v_flags is
    'One row per check of a judged report, as the summary gave it when the report was made.';
comment on column v_flags.chain is 'Chain id.';
comment on column v_flags.token is 'Address of the token, 0x text in lower case.';
comment on column v_flags.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_flags.flag is 'Key of the check.';
comment on column v_flags.label is 'What it found or asks, in words, without the summary''s note on the holder of a power.';
comment on column v_flags.severity is
    'Status if it finds something: danger, warning, info or notice.';
comment on column v_flags.status is 'danger, warning, info, notice, safe or unknown.';
comment on column v_flags.value is
    'Its answer; which answer is a finding, the status says. NULL: it has none.';
comment on column v_flags.scanned_at is 'When the analysis ended, UTC.';
