-- Removes how the token $token_id is entered.
delete from search_entry where token_id = $token_id
