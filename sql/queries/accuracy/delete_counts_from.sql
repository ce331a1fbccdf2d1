-- Removes the counts of $chain_id from the block $number on.
delete from accuracy_count where chain_id = $chain_id and block_number >= $number
