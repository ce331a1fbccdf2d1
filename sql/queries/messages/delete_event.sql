-- Removes what the message of the number $event_id told, unless another message does, too.
delete from watch_event
where
    id = $event_id
    and not exists (select 1 from watch_message where watch_message.event_id = $event_id)
