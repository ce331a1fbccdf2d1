create or replace temp view v_feed as
select
    feed.sequence,
    feed.chain_id::integer as chain,
    feed.kind,
    '0x' || lower(hex(feed.token)) as token,
    feed.block_number,
    '0x' || lower(hex(feed.tx_hash)) as tx_hash,
    feed.log_index,
    make_timestamp(feed.seen_at_s * 1000000) as seen_at,
    feed.detail
from serving.feed;

comment on view v_feed is
    'One row per line of the feeds: launches, changed verdicts, withdrawn liquidity and reorgs, within indexer.feed_kept_s.';
comment on column v_feed.sequence is 'Cursor of the line, as in the event stream.';
comment on column v_feed.chain is 'Chain id.';
comment on column v_feed.kind is
    'launch, verdict, withdrawal, or reorg: all earlier lines of the block and of later ones are void.';
comment on column v_feed.token is 'Address of the token, 0x text in lower case. NULL: a reorg.';
comment on column v_feed.block_number is
    'Block of the log; of the report; or the first void block. NULL: a refusal.';
comment on column v_feed.tx_hash is
    'Transaction of the log. NULL: a report or a reorg, or not known.';
comment on column v_feed.log_index is 'Index of the log. NULL: a report or a reorg.';
comment on column v_feed.seen_at is 'Time of the block, or of the report, UTC.';
comment on column v_feed.detail is 'Content as JSON, by the name of the kind.';
