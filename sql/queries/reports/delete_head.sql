-- Removes what report holds of the token $token_id.
delete from report where token_id = $token_id
