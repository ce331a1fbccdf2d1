-- One row: the block of the newest observation of the token $token_id; NULL if there is none.
select max(block_number) as block_number from observation where token_id = $token_id
