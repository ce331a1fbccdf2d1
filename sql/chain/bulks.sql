-- name: find_folded
-- One row, or none: the last range of a back-fill whose addition to the balances has begun.
select batch, after_key from bulk_folded where one = 1

-- name: put_folded
-- Records the progress of adding the range $batch of a back-fill to the balances; NULL: it is
-- complete.
insert into bulk_folded (one, batch, after_key) values (1, $batch, $after_key)
on conflict (one) do update set batch = excluded.batch, after_key = excluded.after_key
