-- One row, or none: the block $number of $chain_id, if it has this $hash.
select number from block where chain_id = $chain_id and number = $number and hash = $hash
