-- One row: the highest number of a message; 0 if there was none yet.
select coalesce(max(id), 0) as id from watch_message
