-- One row for each of the first $at_most trades of $chain_id up to block $final.
select block_number, log_index, pool_no, time_s, amount0, amount1
from trade
where chain_id = $chain_id and block_number <= $final
order by block_number, log_index
limit $at_most
