-- Pauses the job $job_id or resumes it; it is due at $due_s.
update job set is_paused = $is_paused, due_s = $due_s, is_requested = 0 where job_id = $job_id
