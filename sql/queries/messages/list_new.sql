-- One row per message above $after, oldest first; $at_most of them.
select id, watch_id from watch_message where id > $after order by id limit $at_most
