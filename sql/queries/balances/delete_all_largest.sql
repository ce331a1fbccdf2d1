-- Removes the list of the largest balances of the token $token_id.
delete from largest where token_id = $token_id
