-- What the next report of the token $token_id is compared with.
insert into watch_state (token_id, state, block_number) values ($token_id, $state, $block_number)
on conflict (token_id) do update set
    state = excluded.state, block_number = excluded.block_number
