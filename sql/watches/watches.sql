-- name: count_of_key
-- One row: the numbers of watches of the key $key_id and of their tokens.
select
    (select count(*) from watch where key_id = $key_id) as watches,
    (
        select count(*) from watch cross join watch_token on watch_token.watch_id = watch.id
        where watch.key_id = $key_id
    ) as tokens

-- name: count_states
-- One row: the numbers of watches by state of their delivery.
select
    count(*) filter (where is_paused = 1) as paused,
    count(*) filter (where is_paused = 0 and failing_since_s is not null) as failing,
    count(*) filter (where is_paused = 0 and failing_since_s is null) as active
from watch

-- name: count_tokens
-- One row: the number of tokens of the watch $watch_id.
select count(*) as tokens from watch_token where watch_id = $watch_id

-- name: delete_state
-- Deletes the state in the last notification of the token $token_id, unless it is still watched.
delete from watch_state
where
    token_id = $token_id
    and not exists (select 1 from watch_token where watch_token.token_id = $token_id)

-- name: delete_token
-- Removes the token $token_id from the watch $watch_id.
delete from watch_token where watch_id = $watch_id and token_id = $token_id

-- name: delete_watch
-- Deletes the watch $watch_id with its tokens and messages.
delete from watch where id = $watch_id

-- name: end_waiting
-- Marks the watches of the token $token_id as having the report that later ones are compared
-- with.
update watch_token set is_awaiting = 0
where
    token_id = $token_id and is_awaiting = 1
    and exists (select 1 from watch where watch.id = watch_token.watch_id and is_paused = 0)

-- name: find_state
-- One row, or none: the state in the last notification of the token $token_id, and its block.
select state, block_number from watch_state where token_id = $token_id

-- name: find_watch
-- One row, or none: the watch $watch_id.
select
    id, key_id, name, kinds, url, is_paused, created_at_s, pending, missed, failures,
    failing_since_s, forgotten, feed_chain_id, feed_cursor
from watch
where id = $watch_id

-- name: insert_token
-- Adds the token $token_id to the watch $watch_id.
insert into watch_token (watch_id, token_id, is_awaiting) values ($watch_id, $token_id, 1)
on conflict do nothing

-- name: insert_watch
-- One row: the number of a new watch.
insert into watch (
    is_paused, key_id, name, kinds, url, secret, created_at_s, feed_chain_id, feed_cursor
)
values (
    0, $key_id, $name, $kinds, $url, $secret, $created_at_s, $feed_chain_id, $feed_cursor
)
returning id

-- name: list_after
-- One row per watch above $after, in the order of creation; at most $at_most.
select
    id, key_id, name, kinds, url, is_paused, created_at_s, pending, missed, failures,
    failing_since_s, forgotten, feed_chain_id, feed_cursor
from watch
where id > $after
order by id
limit $at_most

-- name: list_keys
-- One row per key with a watch that is not paused.
select distinct key_id from watch where key_id is not null and is_paused = 0

-- name: list_of_key
-- One row per watch of the key $key_id, in the order of creation.
select
    id, key_id, name, kinds, url, is_paused, created_at_s, pending, missed, failures,
    failing_since_s, forgotten, feed_chain_id, feed_cursor
from watch
where key_id = $key_id
order by id

-- name: list_of_token
-- One row per watch to notify of the token $token_id.
select
    watch.id, watch.kinds, watch.pending, watch.missed, watch_token.is_awaiting,
    watch.url is not null as has_webhook
from watch_token cross join watch on watch.id = watch_token.watch_id
where watch_token.token_id = $token_id and watch.is_paused = 0
order by watch_token.watch_id

-- name: list_tokens
-- One row per token of the watch $watch_id above $after, by number; at most $at_most.
select watch_token.token_id, token.chain_id, token.address, watch_token.is_awaiting
from watch_token cross join token on token.token_id = watch_token.token_id
where watch_token.watch_id = $watch_id and watch_token.token_id > $after
order by watch_token.token_id
limit $at_most

-- name: pause_of_key
-- Pauses the watches of the key $key_id, which has ended.
update watch set is_paused = 1, due_s = null where key_id = $key_id

-- name: pause_watch
-- Pauses notifications and deliveries of the watch $watch_id.
update watch set is_paused = 1, due_s = null where id = $watch_id

-- name: put_state
-- Sets the state that the next report of the token $token_id is compared with.
insert into watch_state (token_id, state, block_number) values ($token_id, $state, $block_number)
on conflict (token_id) do update set
    state = excluded.state, block_number = excluded.block_number

-- name: resume_watch
-- Resumes the watch $watch_id at $now_s, with its queued messages.
update watch set
    is_paused = 0, failures = 0, failed_first_at_s = null, failing_since_s = null,
    due_s = case when pending > 0 then cast($now_s as double precision) end
where id = $watch_id
