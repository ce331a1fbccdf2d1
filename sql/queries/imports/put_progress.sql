-- Notes the last row number of the step $step that was taken over.
insert into import_progress (step, done) values ($step, $done)
on conflict (step) do update set done = excluded.done
