-- One row, or none: the block of the report of the token $token_id.
select block_number from report where token_id = $token_id
