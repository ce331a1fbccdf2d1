-- The next run of the job $job_id is due at $due_s, and asked for by somebody if $is_requested.
update job set due_s = $due_s, is_requested = $is_requested where job_id = $job_id
