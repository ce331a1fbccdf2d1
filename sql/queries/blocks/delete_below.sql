-- Removes the held blocks of $chain_id below $number.
delete from block where chain_id = $chain_id and number < $number
