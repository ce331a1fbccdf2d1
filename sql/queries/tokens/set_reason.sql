-- The token $token_id is tracked because of $because from now on.
update token set tracked_because = $because where token_id = $token_id
