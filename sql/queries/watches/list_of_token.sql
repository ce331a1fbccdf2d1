-- One row per watch that is to be told of the token $token_id.
select
    watch.id, watch.kinds, watch.pending, watch.missed, watch_token.is_awaiting,
    watch.url is not null as has_webhook
from watch_token cross join watch on watch.id = watch_token.watch_id
where watch_token.token_id = $token_id and watch.is_paused = 0
order by watch_token.watch_id
