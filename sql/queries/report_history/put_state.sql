-- What is written down of $token_id from now on.
insert into report_state (token_id, state) values ($token_id, $state)
on conflict (token_id) do update set state = excluded.state
