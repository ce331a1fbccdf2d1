-- One row for each of the first $at_most transfers of $chain_id up to block $final.
select block_number, log_index, token_id, sender, recipient, amount, time_s
from transfer
where chain_id = $chain_id and block_number <= $final
order by block_number, log_index
limit $at_most
