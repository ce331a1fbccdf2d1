-- Removes what pools of the token $token_id held.
delete from watched_reserves where token_id = $token_id
