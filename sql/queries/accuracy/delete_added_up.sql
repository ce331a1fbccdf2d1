-- Removes the counts of single blocks of $chain_id up to $final, which are in those of their days.
delete from accuracy_count where chain_id = $chain_id and block_number >= 0 and block_number <= $final
