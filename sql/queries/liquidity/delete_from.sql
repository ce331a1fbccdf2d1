-- Removes the events of $chain_id in block $number and above.
delete from liquidity_event where chain_id = $chain_id and block_number >= $number
