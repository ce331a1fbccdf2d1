-- Removes the range of $chain_id and $subject that begins at $from_block.
delete from coverage
where chain_id = $chain_id and subject = $subject and from_block = $from_block
