-- One of the largest balances of a token from now on.
insert into largest (token_id, owner, value) values (?, ?, ?)
on conflict (token_id, owner) do update set value = excluded.value
