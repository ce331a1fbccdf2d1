-- No more messages to the watch $watch_id, and none of those that wait is sent.
update watch set is_paused = 1, due_s = null where id = $watch_id
