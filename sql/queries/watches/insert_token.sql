-- The watch $watch_id has the token $token_id from now on.
insert into watch_token (watch_id, token_id, is_awaiting) values ($watch_id, $token_id, 1)
on conflict do nothing
