-- The watch $watch_id goes on at $now_s, with those of its messages that wait.
update watch set
    is_paused = 0, failures = 0, failed_first_at_s = null, failing_since_s = null,
    due_s = case when pending > 0 then cast($now_s as double precision) end
where id = $watch_id
