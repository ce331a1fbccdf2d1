-- name: add_missed
-- Counts a message that the full queue of the watch $watch_id dropped.
update watch set missed = missed + 1 where id = $watch_id

-- name: add_pending
-- Counts a new message of the watch $watch_id, due immediately if it has sent all before.
update watch set
    pending = pending + 1, missed = 0,
    due_s = case when failing_since_s is null then coalesce(due_s, $due_s) end
where id = $watch_id

-- name: delete_event
-- Deletes the event $event_id unless a message has it.
delete from watch_event
where
    id = $event_id
    and not exists (select 1 from watch_message where watch_message.event_id = $event_id)

-- name: delete_message
-- Deletes the message $message_id.
delete from watch_message where id = $message_id

-- name: end_message
-- Records that the webhook has accepted the message $message_id.
update watch_message set
    is_pending = 0, attempts = attempts + 1, tried_at_s = $now_s, delivered_at_s = $now_s,
    error = null
where id = $message_id and is_pending = 1

-- name: find_first_due
-- One row: the due time of the longest overdue attempt. Null: none is planned.
select min(due_s) as due_s from watch where due_s is not null

-- name: find_newest
-- One row: the highest number of a message; 0 if there was none yet.
select coalesce(max(id), 0) as id from watch_message

-- name: find_next
-- One row, or none: the oldest message that the watch $watch_id has to send.
select
    watch_message.id, watch_message.watch_id, watch.name as watch_name, watch.kinds,
    watch_message.kind, watch_message.created_at_s, watch_message.missed, watch_event.chain_id,
    watch_event.address, watch_event.block_number, watch_event.block_hash,
    watch_event.block_time_s, watch_event.body, watch.feed_chain_id, watch_message.feed_after,
    watch_message.feed_up_to
from watch
cross join watch_message on watch_message.watch_id = watch.id and watch_message.is_pending = 1
left join watch_event on watch_event.id = watch_message.event_id
where watch.id = $watch_id and watch.is_paused = 0 and watch.failing_since_s is null
order by watch_message.id
limit 1

-- name: find_oldest
-- One row: the creation time of the oldest undelivered message. Null: there is none.
select min(created_at_s) as created_at_s from watch_message where is_pending = 1

-- name: insert_event
-- One row: the number of a new event.
insert into watch_event (chain_id, address, block_number, block_hash, block_time_s, seen_at_s, body)
values ($chain_id, $address, $block_number, $block_hash, $block_time_s, $seen_at_s, $body)
returning id

-- name: insert_feed_message
-- Stores a message of the lines of a feed above $after up to $up_to to the watch $watch_id.
insert into watch_message (
    watch_id, kind, created_at_s, missed, is_pending, feed_after, feed_up_to
)
select id, 'feed', $created_at_s, missed, 1, $after, $up_to from watch where id = $watch_id

-- name: insert_message
-- Stores a message of $event_id to the watch $watch_id.
insert into watch_message (watch_id, event_id, kind, created_at_s, missed, is_pending)
values ($watch_id, $event_id, $kind, $created_at_s, $missed, $is_pending)

-- name: list_after
-- One row per message about a token to the watch $watch_id above $after, oldest first; at most
-- $at_most.
select
    watch_message.id, watch_message.watch_id, watch.name as watch_name, watch.kinds,
    watch_message.kind, watch_message.created_at_s, watch_message.missed, watch_event.chain_id,
    watch_event.address, watch_event.block_number, watch_event.block_hash,
    watch_event.block_time_s, watch_event.body, watch.feed_chain_id, watch_message.feed_after,
    watch_message.feed_up_to
from watch_message
cross join watch on watch.id = watch_message.watch_id
left join watch_event on watch_event.id = watch_message.event_id
where
    watch_message.watch_id = $watch_id and watch_message.id > $after
    and watch_message.feed_up_to is null
order by watch_message.id
limit $at_most

-- name: list_deliveries
-- One row per message to the watch $watch_id with the outcome of its delivery, newest first; at
-- most $at_most.
select id, kind, created_at_s, is_pending, attempts, tried_at_s, delivered_at_s, error
from watch_message
where watch_id = $watch_id
order by id desc
limit $at_most

-- name: list_due
-- One row per watch that has a message to send by $now_s, the longest overdue first.
select id, key_id, url, secret
from watch
where due_s <= $now_s
order by due_s
limit $at_most

-- name: list_events
-- One row per message to the watch $watch_id: the number of its event.
select event_id from watch_message where watch_id = $watch_id

-- name: list_feeds
-- One row per watch whose feed has lines that were never queued, while none of its earlier ones
-- wait.
select watch.id, watch.feed_chain_id as chain_id, watch.feed_cursor as cursor
from watch
where
    watch.feed_chain_id is not null and watch.is_paused = 0 and watch.failing_since_s is null
    and (
        exists (
            select 1 from feed
            where feed.chain_id = watch.feed_chain_id and feed.sequence > watch.feed_cursor
        )
        or exists (
            select 1 from feed_gap
            where
                feed_gap.chain_id = watch.feed_chain_id and feed_gap.forgotten > watch.feed_cursor
        )
    )
    and not exists (
        select 1 from watch_message
        where
            watch_message.watch_id = watch.id and watch_message.is_pending = 1
            and watch_message.feed_up_to is not null
    )

-- name: list_last
-- One row per message to the watch $watch_id, newest first; at most $at_most.
select
    watch_message.id, watch_message.watch_id, watch.name as watch_name, watch.kinds,
    watch_message.kind, watch_message.created_at_s, watch_message.missed, watch_event.chain_id,
    watch_event.address, watch_event.block_number, watch_event.block_hash,
    watch_event.block_time_s, watch_event.body, watch.feed_chain_id, watch_message.feed_after,
    watch_message.feed_up_to
from watch_message
cross join watch on watch.id = watch_message.watch_id
left join watch_event on watch_event.id = watch_message.event_id
where watch_message.watch_id = $watch_id
order by watch_message.id desc
limit $at_most

-- name: list_new
-- One row per message about a token above $after with the key of its watch, oldest first; at most
-- $at_most.
select watch_message.id, watch_message.watch_id, watch.key_id
from watch_message cross join watch on watch.id = watch_message.watch_id
where watch_message.id > $after and watch_message.feed_up_to is null
order by watch_message.id
limit $at_most

-- name: list_old
-- One row per message among the $at_most oldest that were made before $before_s and are no
-- longer to be sent.
select id, watch_id, event_id, feed_up_to
from watch_message
where created_at_s < $before_s and is_pending = 0
order by created_at_s
limit $at_most

-- name: move_feed
-- Records that the feed of the watch $watch_id has been queued up to $cursor.
update watch set feed_cursor = $cursor where id = $watch_id

-- name: note_delivery
-- Records one message less to send for the watch $watch_id, and the next one as due immediately.
update watch set
    pending = pending - 1, failures = 0, failed_first_at_s = null, failing_since_s = null,
    due_s = case when pending > 1 and is_paused = 0 then cast($now_s as double precision) end
where id = $watch_id

-- name: note_error
-- Records a failed attempt to deliver the message $message_id.
update watch_message set attempts = attempts + 1, tried_at_s = $now_s, error = $error
where id = $message_id

-- name: note_forgotten
-- Records that messages up to $message_id to the watch $watch_id have been deleted.
update watch set forgotten = max(forgotten, $message_id) where id = $watch_id

-- name: note_forgotten postgres
-- As for SQLite.
update watch set forgotten = greatest(forgotten, $message_id) where id = $watch_id

-- name: put_off
-- One row: the consecutive failed attempts of the watch $watch_id with this one, and the time of
-- the first.
update watch set
    failures = failures + 1, failed_first_at_s = coalesce(failed_first_at_s, $now_s)
where id = $watch_id
returning failures, failed_first_at_s

-- name: set_due
-- Sets the time $due_s of the next attempt of the watch $watch_id; null: not before it is
-- resumed.
update watch set
    due_s = case when is_paused = 0 then cast($due_s as double precision) end,
    failing_since_s = case when $due_s is null then cast($now_s as bigint) end
where id = $watch_id

-- name: take_turn
-- One row: SQLite has one writer at a time and needs no lock.
select 1 as taken

-- name: take_turn postgres
-- One row: until the end of the transaction no other one assigns numbers to messages, so that
-- they are committed in the order of their numbers, on all chains.
select 1 as taken from (select pg_advisory_xact_lock(hashtext('assay messages')) as turn) as waited
