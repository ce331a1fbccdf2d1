-- One row per stream of a chain: how far it has come.
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
