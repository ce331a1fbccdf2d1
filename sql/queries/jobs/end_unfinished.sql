-- The run of the job $job_id that is not over ends at $ended_at_s, as the job is another one now.
update job_run set
    ended_at_s = $ended_at_s,
    outcome = 'cut',
    is_held = 0,
    error = 'the job was changed during this run'
where job_id = $job_id and ended_at_s is null
