-- As for SQLite.
update watch set forgotten = greatest(forgotten, $message_id) where id = $watch_id
