-- The watch $watch_id has one message less to send, and the next one at once.
update watch set
    pending = pending - 1, failures = 0, failed_first_at_s = null, failing_since_s = null,
    due_s = case when pending > 1 and is_paused = 0 then cast($now_s as double precision) end
where id = $watch_id
