-- The token $token_id: its transfers are complete from $block_number on, or from the earlier block
-- that was known.
update token
set transfers_from_block = $block_number
where
    token_id = $token_id
    and (transfers_from_block is null or transfers_from_block > $block_number)
