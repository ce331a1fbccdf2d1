-- Removes the ranges of $chain_id that begin at $number or above.
delete from coverage where chain_id = $chain_id and from_block >= $number
