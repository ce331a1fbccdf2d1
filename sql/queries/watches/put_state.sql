-- What the next report of the token $token_id is compared with.
insert into watch_state (token_id, state) values ($token_id, $state)
on conflict (token_id) do update set state = excluded.state
