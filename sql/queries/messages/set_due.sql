-- The watch $watch_id is tried again at $due_s; null: not before it is resumed.
update watch set
    due_s = case when is_paused = 0 then cast($due_s as double precision) end,
    failing_since_s = case when $due_s is null then cast($now_s as bigint) end
where id = $watch_id
