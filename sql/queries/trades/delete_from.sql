-- Removes the trades of $chain_id at $number and above.
delete from trade where chain_id = $chain_id and block_number >= $number
