-- One row, or none: a block of this number that is not the one of $hash.
select number from block where chain_id = $chain_id and number = $number and hash <> $hash
