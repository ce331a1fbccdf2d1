-- The webhook has taken the message $message_id.
update watch_message set
    is_pending = 0, attempts = attempts + 1, tried_at_s = $now_s, delivered_at_s = $now_s,
    error = null
where id = $message_id and is_pending = 1
