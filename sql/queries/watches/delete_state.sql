-- Forgets what was told of the token $token_id, unless it is still watched.
delete from watch_state
where
    token_id = $token_id
    and not exists (select 1 from watch_token where watch_token.token_id = $token_id)
