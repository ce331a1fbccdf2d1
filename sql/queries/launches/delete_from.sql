-- Removes the launches of $chain_id at $number or above.
delete from launch where chain_id = $chain_id and block_number >= $number
