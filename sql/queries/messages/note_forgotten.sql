-- Messages up to $message_id to the watch $watch_id have been deleted.
update watch set forgotten = max(forgotten, $message_id) where id = $watch_id
