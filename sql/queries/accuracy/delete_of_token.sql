-- Removes the disagreements of the token $token_id.
delete from disagreement where token_id = $token_id
