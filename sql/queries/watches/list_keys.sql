-- One row per key that has a watch which is not paused.
select distinct key_id from watch where key_id is not null and is_paused = 0
