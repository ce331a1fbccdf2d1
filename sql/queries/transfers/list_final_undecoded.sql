-- One row for each of the first $at_most undecoded logs of $chain_id up to block $final.
select block_number, log_index, address, topic0, topic_count, data
from undecoded
where chain_id = $chain_id and block_number <= $final
order by block_number, log_index
limit $at_most
