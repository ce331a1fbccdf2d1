-- One row, or none: what was last told of the token $token_id, and at which block.
select state, block_number from watch_state where token_id = $token_id
