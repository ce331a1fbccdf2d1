-- A new run of the job $job_id; gives it back with its number.
insert into job_run (job_id, cause, due_s, started_at_s, is_held)
values ($job_id, $cause, $due_s, $started_at_s, 1)
returning
    run_id, job_id, cause, due_s, started_at_s, ended_at_s, outcome, is_held, cuts, is_selected,
    tokens, done, young, refused, failed, rows_exported, "overlaps", error
