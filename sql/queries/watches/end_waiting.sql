-- Those that watch the token $token_id have had the report that later ones are compared with.
update watch_token set is_awaiting = 0
where
    token_id = $token_id and is_awaiting = 1
    and exists (select 1 from watch where watch.id = watch_token.watch_id and is_paused = 0)
