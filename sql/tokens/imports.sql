-- name: find_progress
-- One row, or none: the last row number that the step $step has processed.
select done from import_progress where step = $step

-- name: put_progress
-- Records the last row number that the step $step has processed.
insert into import_progress (step, done) values ($step, $done)
on conflict (step) do update set done = excluded.done
