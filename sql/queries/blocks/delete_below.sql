-- Removes the blocks of $chain_id below $number, which can no longer change.
delete from block where chain_id = $chain_id and number < $number
