-- Writes the undecoded logs of a batch.
insert into lake.undecoded
select
    $batch, $chain_id, block_number, log_index, '0x' || lower(hex(address)),
    '0x' || lower(hex(topic0)), topic_count, '0x' || lower(hex(data))
from serving.final_undecoded
where batch = $batch
order by block_number, log_index
