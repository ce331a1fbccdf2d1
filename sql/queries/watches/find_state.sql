-- One row, or none: what was last told of the token $token_id.
select state from watch_state where token_id = $token_id
