-- Removes the message $message_id.
delete from watch_message where id = $message_id
