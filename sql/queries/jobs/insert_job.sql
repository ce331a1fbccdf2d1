-- A new job; gives it back with its number.
insert into job (name, is_configured, is_paused, definition, created_at_s, due_s)
values ($name, $is_configured, $is_paused, $definition, $created_at_s, $due_s)
returning
    job_id, name, is_configured, is_paused, definition, created_at_s, due_s, is_requested,
    succeeded_at_s
