-- One row per undecoded log of a chain in a range of blocks that the lake has.
select block_number, log_index from lake.undecoded
where chain_id = $chain_id and block_number between $from_block and $to_block
