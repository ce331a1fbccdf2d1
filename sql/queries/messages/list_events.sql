-- One row per message to the watch $watch_id: the number of what it told.
select event_id from watch_message where watch_id = $watch_id
