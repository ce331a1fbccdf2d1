-- One row per message to the watch $watch_id, newest first, with how it was delivered; $at_most of
-- them.
select id, kind, created_at_s, is_pending, attempts, tried_at_s, delivered_at_s, error
from watch_message
where watch_id = $watch_id
order by id desc
limit $at_most
