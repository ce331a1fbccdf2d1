-- One row per final trade of a chain in a range of blocks that waits for the lake.
select final_trade.block_number, final_trade.log_index
from batch
join final_trade on final_trade.batch = batch.batch
where batch.chain_id = :chain_id
and final_trade.block_number between :from_block and :to_block
