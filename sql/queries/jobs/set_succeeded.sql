-- A run of the job $job_id did all it had to, and ended at $succeeded_at_s.
update job set succeeded_at_s = $succeeded_at_s where job_id = $job_id
