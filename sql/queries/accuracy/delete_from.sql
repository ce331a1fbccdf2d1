-- Removes the disagreements of $chain_id from the block $number on.
delete from disagreement where chain_id = $chain_id and block_number >= $number
