-- Removes the tokens numbered in gone_token (token_id).
delete from token where token_id in (select token_id from gone_token)
