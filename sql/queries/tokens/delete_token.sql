-- Removes the token $token_id.
delete from token where token_id = $token_id
