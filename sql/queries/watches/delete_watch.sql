-- Removes the watch $watch_id, with its tokens and messages.
delete from watch where id = $watch_id
