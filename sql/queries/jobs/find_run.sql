-- One row, or none: the run $run_id.
select
    run_id, job_id, cause, due_s, started_at_s, ended_at_s, outcome, is_held, cuts, is_selected,
    tokens, done, young, refused, failed, rows_exported, "overlaps", error
from job_run
where run_id = $run_id
