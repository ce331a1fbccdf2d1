-- Sets every stream of $chain_id that has come to $number or further back to the block below, with
-- that block's hash where it is held.
update checkpoint
set
    number = $number - 1,
    hash = (
        select block.hash from block
        where block.chain_id = $chain_id and block.number = $number - 1
    )
where chain_id = $chain_id and number >= $number
