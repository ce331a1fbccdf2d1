-- One row for each of the $at_most oldest messages that were made before $before_s and are not to
-- be sent any more.
select id, watch_id, event_id
from watch_message
where created_at_s < $before_s and is_pending = 0
order by created_at_s
limit $at_most
