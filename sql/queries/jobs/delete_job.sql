-- Removes the job $job_id with its runs.
delete from job where job_id = $job_id
