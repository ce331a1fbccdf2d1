-- Deletes the transfers of a chain up to a block.
delete from lake.transfer where chain_id = $chain_id and block_number <= $to_block
