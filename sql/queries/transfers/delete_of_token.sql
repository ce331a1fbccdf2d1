-- Removes the transfers of the token $token_id that are not final yet.
delete from transfer where token_id = $token_id
