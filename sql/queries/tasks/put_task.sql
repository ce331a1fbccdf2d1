-- The task $kind of the token $token_id, with this worth and time, in place of what it had.
insert into task (kind, token_id, chain_id, worth, due_s, is_due)
values ($kind, $token_id, $chain_id, $worth, $due_s, 0)
on conflict (kind, token_id) do update set
    worth = excluded.worth, due_s = excluded.due_s, is_due = 0
