-- Removes the held blocks of $chain_id at $number and above.
delete from block where chain_id = $chain_id and number >= $number
