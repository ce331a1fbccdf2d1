-- One row: how many tokens the watch $watch_id has.
select count(*) as tokens from watch_token where watch_id = $watch_id
