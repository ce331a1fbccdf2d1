-- Removes what refusal holds of the token $token_id.
delete from refusal where token_id = $token_id
