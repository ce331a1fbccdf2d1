-- Removes what was observed on $chain_id from the block $number on.
delete from observation where chain_id = $chain_id and block_number >= $number
