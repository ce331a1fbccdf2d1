-- The watch $watch_id has one more message to send, at once if it has sent all before.
update watch set
    pending = pending + 1, missed = 0,
    due_s = case when failing_since_s is null then coalesce(due_s, $due_s) end
where id = $watch_id
