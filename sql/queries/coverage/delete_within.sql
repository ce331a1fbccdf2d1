-- Removes the ranges of the subject that lie within $from_block to $to_block.
delete from coverage
where
    chain_id = $chain_id and subject = $subject
    and from_block >= $from_block and to_block <= $to_block
