-- One row per message above $after, oldest first, with the key whose watch it is to; $at_most of
-- them.
select watch_message.id, watch_message.watch_id, watch.key_id
from watch_message cross join watch on watch.id = watch_message.watch_id
where watch_message.id > $after
order by watch_message.id
limit $at_most
