-- Removes what is known of the fetching of the past of the token $token_id.
delete from history where token_id = $token_id
