-- Removes the single values of the report on $token_id.
delete from report where token_id = $token_id
