-- name: delete_all_largest
-- Deletes the list of the largest balances of the token $token_id.
delete from largest where token_id = $token_id

-- name: delete_balance
-- Deletes the balance under a key, which is zero.
delete from balance where key = ?

-- name: delete_largest
-- Deletes a balance that is no longer among the largest of its token.
delete from largest where token_id = ? and owner = ?

-- name: find_balance
-- One row, or none: the balance under a key.
select value from balance where key = ?

-- name: find_total
-- One row, or none: the totals over all balances of a token.
select token_id, owners, overdrawn, held, bound from token_balance where token_id = ?

-- name: list_largest
-- One row per listed largest balance of the token $token_id.
select owner, value from largest where token_id = $token_id

-- name: list_of_token
-- One row per owner of a token: the keys from $first to below $end.
select key, value from balance where key >= $first and key < $end

-- name: put_balance
-- Sets the balance under a key.
insert into balance (key, value) values (?, ?)
on conflict (key) do update set value = excluded.value

-- name: put_largest
-- Sets one of the largest balances of a token.
insert into largest (token_id, owner, value) values (?, ?, ?)
on conflict (token_id, owner) do update set value = excluded.value

-- name: put_total
-- Sets the totals over all balances of a token.
insert into token_balance (token_id, owners, overdrawn, held, bound)
values (?, ?, ?, ?, ?)
on conflict (token_id) do update set
    owners = excluded.owners,
    overdrawn = excluded.overdrawn,
    held = excluded.held,
    bound = excluded.bound
