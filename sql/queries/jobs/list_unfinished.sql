-- One row per run that is not over, of jobs that are not paused; the oldest first.
select
    job_run.run_id, job_run.job_id, cause, job_run.due_s, started_at_s, ended_at_s, outcome, is_held,
    cuts, is_selected, tokens, done, young, refused, failed, rows_exported, "overlaps", error
from job_run
cross join job on job.job_id = job_run.job_id
where job_run.ended_at_s is null and job.is_paused = 0
order by job_run.job_id
