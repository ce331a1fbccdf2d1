-- One row per watch of the key $key_id, in the order of their making.
select
    id, key_id, name, kinds, url, is_paused, created_at_s, pending, missed, failures,
    failing_since_s, forgotten
from watch
where key_id = $key_id
order by id
