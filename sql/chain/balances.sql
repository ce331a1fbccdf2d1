-- name: delete_all_largest
-- Removes the list of the largest balances of the token $token_id.
delete from largest where token_id = $token_id

-- name: delete_balance
-- Removes the balance under a key: it is nothing.
delete from balance where key = ?

-- name: delete_largest
-- Removes a balance that is not among the largest of its token any more.
delete from largest where token_id = ? and owner = ?

-- name: find_balance
-- One row, or none: the balance under a key.
select value from balance where key = ?

-- name: find_total
-- One row, or none: what is known of all balances of a token together.
select token_id, owners, overdrawn, held, bound from token_balance where token_id = ?

-- name: list_largest
-- One row for each of the largest balances of the token $token_id that are listed.
select owner, value from largest where token_id = $token_id

-- name: list_of_token
-- One row per owner of a token, whose keys begin with $first and end below $end.
select key, value from balance where key >= $first and key < $end

-- name: put_balance
-- The balance under a key from now on.
insert into balance (key, value) values (?, ?)
on conflict (key) do update set value = excluded.value

-- name: put_largest
-- One of the largest balances of a token from now on.
insert into largest (token_id, owner, value) values (?, ?, ?)
on conflict (token_id, owner) do update set value = excluded.value

-- name: put_total
-- What is known of all balances of a token together from now on.
insert into token_balance (token_id, owners, overdrawn, held, bound)
values (?, ?, ?, ?, ?)
on conflict (token_id) do update set
    owners = excluded.owners,
    overdrawn = excluded.overdrawn,
    held = excluded.held,
    bound = excluded.bound
