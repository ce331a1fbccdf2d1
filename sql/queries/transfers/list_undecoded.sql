-- One row per undecoded log of $chain_id, newest first.
select chain_id, block_number, log_index, address, topic0, topic_count, data
from undecoded
where chain_id = $chain_id
order by block_number desc, log_index desc
limit $at_most
