-- One row, or none: the job $name.
select
    job_id, name, is_configured, is_paused, definition, created_at_s, due_s, is_requested,
    succeeded_at_s
from job
where name = $name
