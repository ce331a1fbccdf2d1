-- Another definition of the job $job_id, counted from $created_at_s and due at $due_s.
update job
set definition = $definition, created_at_s = $created_at_s, due_s = $due_s
where job_id = $job_id
