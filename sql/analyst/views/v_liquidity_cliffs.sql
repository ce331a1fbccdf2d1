create or replace temp view v_liquidity_cliffs as
select
    cliff.chain_id::integer as chain,
    '0x' || lower(hex(cliff.token)) as token,
    cliff.block_number,
    cliff.log_index::integer as log_index,
    make_timestamp(cliff.time_s * 1000000) as block_time,
    '0x' || lower(hex(cliff.tx_hash)) as tx_hash,
    cliff.source as dex,
    '0x' || lower(hex(cliff.pool)) as pool_key,
    cliff.left_pct
from serving.liquidity_cliff cliff;

comment on view v_liquidity_cliffs is
    'One row per withdrawal that took more than half of a followed pool''s tokens, within indexer.history_kept_s.';
comment on column v_liquidity_cliffs.chain is 'Chain id.';
comment on column v_liquidity_cliffs.token is 'Address of the token, 0x text in lower case.';
comment on column v_liquidity_cliffs.block_number is 'Block of the withdrawal.';
comment on column v_liquidity_cliffs.log_index is 'Place of its log in the block.';
comment on column v_liquidity_cliffs.block_time is 'Time of the block, UTC.';
comment on column v_liquidity_cliffs.tx_hash is 'Its transaction. NULL: the node did not send it.';
comment on column v_liquidity_cliffs.dex is 'Name of the exchange.';
comment on column v_liquidity_cliffs.pool_key is 'Address of the pool.';
comment on column v_liquidity_cliffs.left_pct is
    'Percent of the tokens that the pool had at the end of the block before, less those that came into it within the block.';
