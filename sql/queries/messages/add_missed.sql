-- The queue of the watch $watch_id is full.
update watch set missed = missed + 1 where id = $watch_id
