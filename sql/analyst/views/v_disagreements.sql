create or replace temp view v_disagreements as
select
    disagreement.chain_id::integer as chain,
    '0x' || lower(hex(token.address)) as token,
    report.symbol,
    disagreement.block_number,
    make_timestamp(disagreement.block_time_s * 1000000) as block_time,
    '0x' || lower(hex(disagreement.tx_hash)) as tx_hash,
    '0x' || lower(hex(disagreement.trader)) as trader,
    '0x' || lower(hex(disagreement.pool)) as pool,
    disagreement.dex,
    disagreement.flag,
    disagreement.age,
    disagreement.report_block,
    disagreement.predicted,
    disagreement.observed,
    disagreement.is_certain::boolean as is_certain,
    disagreement.explanation
from serving.disagreement
join serving.token on token.token_id = disagreement.token_id
left join serving.report on report.token_id = disagreement.token_id;

comment on view v_disagreements is
    'One row per trade or transfer that came out otherwise than a report predicted: of each report the first five, within the retention (indexer.history_kept_s).';
comment on column v_disagreements.chain is 'Chain id.';
comment on column v_disagreements.token is 'Address of the token, 0x text in lower case.';
comment on column v_disagreements.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_disagreements.block_number is 'Block of the trade.';
comment on column v_disagreements.block_time is 'Time of that block, UTC.';
comment on column v_disagreements.tx_hash is 'Hash of the transaction.';
comment on column v_disagreements.trader is 'Who traded. NULL: not known.';
comment on column v_disagreements.pool is 'Address of the pool, or its id in its manager or vault. NULL: a plain transfer.';
comment on column v_disagreements.dex is 'Name of the exchange; empty for plain transfers.';
comment on column v_disagreements.flag is 'The field that predicted.';
comment on column v_disagreements.age is
    'How old the report was: up to a minute, an hour, a day or a week, or older.';
comment on column v_disagreements.report_block is 'Block of the report.';
comment on column v_disagreements.predicted is 'passed or refused; of a tax, percent.';
comment on column v_disagreements.observed is 'passed or failed; of a tax, percent.';
comment on column v_disagreements.is_certain is
    'Whether it counts by itself. If not, it counts once a later report says what was observed.';
comment on column v_disagreements.explanation is
    'What the next report made of it: time, owner, changed, size, exempt, unseen, own_limits, bundled or unexplained. NULL: there is none yet.';
