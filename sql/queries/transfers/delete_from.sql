-- Removes the transfers of $chain_id at $number and above.
delete from transfer where chain_id = $chain_id and block_number >= $number
