-- One row per message to the watch $watch_id, newest first; $at_most of them.
select
    watch_message.id, watch_message.watch_id, watch.name as watch_name, watch.kinds,
    watch_message.kind, watch_message.created_at_s, watch_message.missed, watch_event.chain_id,
    watch_event.address, watch_event.block_number, watch_event.block_hash,
    watch_event.block_time_s, watch_event.body
from watch_message
cross join watch on watch.id = watch_message.watch_id
left join watch_event on watch_event.id = watch_message.event_id
where watch_message.watch_id = $watch_id
order by watch_message.id desc
limit $at_most
