-- A message of $event_id to the watch $watch_id.
insert into watch_message (watch_id, event_id, kind, created_at_s, missed, is_pending)
values ($watch_id, $event_id, $kind, $created_at_s, $missed, $is_pending)
