-- One row per job that is due at $now_s and not paused; $at_most of them, the longest due first.
select
    job_id, name, is_configured, is_paused, definition, created_at_s, due_s, is_requested,
    succeeded_at_s
from job
where is_paused = 0 and due_s <= $now_s
order by due_s, job_id
limit $at_most
