-- Removes what was observed of the token $token_id.
delete from observation where token_id = $token_id
