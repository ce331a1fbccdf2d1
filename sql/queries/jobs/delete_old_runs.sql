-- Removes the runs of the job $job_id that are over, but for the newest $kept.
delete from job_run
where job_id = $job_id and ended_at_s is not null and run_id <= (
    select run_id from job_run
    where job_id = $job_id
    order by run_id desc
    limit 1 offset $kept
)
