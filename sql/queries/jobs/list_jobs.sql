-- One row per job, by name.
select
    job_id, name, is_configured, is_paused, definition, created_at_s, due_s, is_requested,
    succeeded_at_s
from job
order by name
