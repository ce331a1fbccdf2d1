-- name: find_progress
-- One row, or none: the last row number of the step $step that was taken over.
select done from import_progress where step = $step

-- name: put_progress
-- Notes the last row number of the step $step that was taken over.
insert into import_progress (step, done) values ($step, $done)
on conflict (step) do update set done = excluded.done
