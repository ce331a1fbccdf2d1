-- The task $kind of the token $token_id, unless there is one.
insert into task (kind, token_id, chain_id, worth, due_s, is_due)
values ($kind, $token_id, $chain_id, $worth, $due_s, 0)
on conflict do nothing
