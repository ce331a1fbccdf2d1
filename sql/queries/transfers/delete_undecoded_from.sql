-- Removes the undecoded logs of $chain_id at $number and above.
delete from undecoded where chain_id = $chain_id and block_number >= $number
