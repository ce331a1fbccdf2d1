create or replace temp view v_launches as
select
    launch.chain_id::integer as chain,
    '0x' || lower(hex(launch.token)) as token,
    report.symbol,
    launch.slug as launchpad,
    '0x' || lower(hex(launch.emitter)) as emitter,
    '0x' || lower(hex(launch.creator)) as creator,
    '0x' || lower(hex(launch.tx_hash)) as tx_hash,
    launch.block_number,
    launch.log_index::integer as log_index,
    make_timestamp(block_time.time_s * 1000000) as block_time
from serving.launch
left join serving.block_time
    on block_time.chain_id = launch.chain_id and block_time.number = launch.block_number
left join serving.token on token.address = launch.token and token.chain_id = launch.chain_id
left join serving.report on report.token_id = token.token_id;

comment on view v_launches is
    'One row per launch that a platform''s event told of.';
comment on column v_launches.chain is 'Chain id.';
comment on column v_launches.token is 'Address of the token, 0x text in lower case.';
comment on column v_launches.symbol is
    'Symbol that the token''s report gives. NULL: there is no report.';
comment on column v_launches.launchpad is 'Name of the platform.';
comment on column v_launches.emitter is 'Contract that emitted the event.';
comment on column v_launches.creator is 'Creator that the event names. NULL: it names none.';
comment on column v_launches.tx_hash is 'Hash of the transaction. NULL: not stored.';
comment on column v_launches.block_number is 'Block of the event.';
comment on column v_launches.log_index is 'Place of the event''s log in its block.';
comment on column v_launches.block_time is
    'Time of the block, UTC. NULL: the node did not send it, or a release before 0.5.0 wrote the row.';
