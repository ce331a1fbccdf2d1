-- The webhook has not taken the message $message_id.
update watch_message set attempts = attempts + 1, tried_at_s = $now_s, error = $error
where id = $message_id
