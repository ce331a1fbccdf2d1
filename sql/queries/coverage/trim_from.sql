-- Ends the ranges of $chain_id that reach $number right below it.
update coverage set to_block = $number - 1 where chain_id = $chain_id and to_block >= $number
