-- One row, or none: the oldest message that the watch $watch_id has to send.
select
    watch_message.id, watch_message.watch_id, watch.name as watch_name, watch.kinds,
    watch_message.kind, watch_message.created_at_s, watch_message.missed, watch_event.chain_id,
    watch_event.address, watch_event.block_number, watch_event.block_hash,
    watch_event.block_time_s, watch_event.body
from watch
cross join watch_message on watch_message.watch_id = watch.id and watch_message.is_pending = 1
left join watch_event on watch_event.id = watch_message.event_id
where watch.id = $watch_id and watch.is_paused = 0 and watch.failing_since_s is null
order by watch_message.id
limit 1
