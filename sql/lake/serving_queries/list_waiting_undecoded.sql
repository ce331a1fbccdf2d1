-- One row per final undecoded log of a chain in a range of blocks that waits for the lake.
select final_undecoded.block_number, final_undecoded.log_index
from batch
join final_undecoded on final_undecoded.batch = batch.batch
where batch.chain_id = :chain_id
and final_undecoded.block_number between :from_block and :to_block
