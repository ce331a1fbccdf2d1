create or replace temp view v_checkpoints as
select
    checkpoint.chain_id::integer as chain,
    checkpoint.stream,
    checkpoint.number,
    '0x' || lower(hex(checkpoint.hash)) as hash,
    make_timestamp(block.time_s * 1000000) as block_time
from serving.checkpoint
left join serving.block
    on block.chain_id = checkpoint.chain_id and block.number = checkpoint.number;

comment on view v_checkpoints is
    'One row per stream of a chain: how far it has come.';
comment on column v_checkpoints.chain is 'Chain id.';
comment on column v_checkpoints.stream is 'Name of the stream: follow, final, or a back-fill''s.';
comment on column v_checkpoints.number is 'Last block that the stream has done.';
comment on column v_checkpoints.hash is 'Hash of that block. NULL: the stream does not note it.';
comment on column v_checkpoints.block_time is
    'Time of that block, UTC. NULL: the block has left the window of following.';
