-- What is known of all balances of a token together from now on.
insert into token_balance (token_id, owners, overdrawn, held, bound)
values (?, ?, ?, ?, ?)
on conflict (token_id) do update set
    owners = excluded.owners,
    overdrawn = excluded.overdrawn,
    held = excluded.held,
    bound = excluded.bound
