-- One row per transfer of a chain in a range of blocks, not yet final or waiting for the lake.
select block_number, log_index from transfer
where chain_id = :chain_id and block_number between :from_block and :to_block
union all
select final_transfer.block_number, final_transfer.log_index
from batch
join final_transfer on final_transfer.batch = batch.batch
where batch.chain_id = :chain_id
and final_transfer.block_number between :from_block and :to_block
