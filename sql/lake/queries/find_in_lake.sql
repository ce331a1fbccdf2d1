-- One row: whether the lake has transfers of a chain in a range of blocks.
select exists (
    select 1 from lake.transfer
    where chain_id = $chain_id and block_number between $from_block and $to_block
) as is_there
