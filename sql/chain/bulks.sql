-- name: find_folded
-- One row, or none: the last range of a back-fill that was begun to be added to the balances.
select batch, after_key from bulk_folded where one = 1

-- name: put_folded
-- Notes how far the range $batch of a back-fill has come into the balances; NULL: it is whole.
insert into bulk_folded (one, batch, after_key) values (1, $batch, $after_key)
on conflict (one) do update set batch = excluded.batch, after_key = excluded.after_key
