-- One row per watch above $after, in the order of their making; $at_most of them.
select
    id, key_id, name, kinds, url, is_paused, created_at_s, pending, missed, failures,
    failing_since_s, forgotten
from watch
where id > $after
order by id
limit $at_most
