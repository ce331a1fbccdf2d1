-- The watch $watch_id is tried again at $due_s; null: not before it is resumed.
update watch set
    due_s = case when is_paused = 0 then $due_s end,
    failing_since_s = case when $due_s is null then $now_s end
where id = $watch_id
