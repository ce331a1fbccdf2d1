-- One row, or none: the run of the job $job_id that is not over.
select
    run_id, job_id, cause, due_s, started_at_s, ended_at_s, outcome, is_held, cuts, is_selected,
    tokens, done, young, refused, failed, rows_exported, "overlaps", error
from job_run
where job_id = $job_id and ended_at_s is null
