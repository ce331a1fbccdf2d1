-- One row, or none: the watch $watch_id.
select
    id, key_id, name, kinds, url, is_paused, created_at_s, pending, missed, failures,
    failing_since_s, forgotten
from watch
where id = $watch_id
