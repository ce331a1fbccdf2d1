-- name: add_refresh
-- Makes the analysis of the token at an address of a chain due immediately, unless it has a
-- time.
insert into task (kind, token_id, chain_id, worth, due_s, is_due)
select 'refresh', token_id, chain_id, ?, 0, 0
from token
where chain_id = ? and address = ?
on conflict do nothing

-- name: add_task
-- Adds the task $kind of the token $token_id unless there is one.
insert into task (kind, token_id, chain_id, worth, due_s, is_due)
values ($kind, $token_id, $chain_id, $worth, $due_s, 0)
on conflict do nothing

-- name: count_due
-- One row: the number of tasks $kind of $chain_id that are due at $now_s, by the time since; at
-- most $at_most each of those marked as due and of the others.
select
    count(*) filter (where due_s = 0) as "new",
    count(*) filter (where due_s > $now_s - 60) as minute,
    count(*) filter (where due_s <= $now_s - 60 and due_s > $now_s - 3600) as hour,
    count(*) filter (where due_s <= $now_s - 3600 and due_s > $now_s - 86400) as day,
    count(*) filter (where due_s <= $now_s - 86400 and due_s > 0) as older
from (
    select due_s
    from (
        select due_s from task
        where kind = $kind and chain_id = $chain_id and is_due = 1
        order by worth desc, token_id
        limit $at_most
    ) as marked
    union all
    select due_s
    from (
        select due_s from task
        where kind = $kind and chain_id = $chain_id and is_due = 0 and due_s <= $now_s
        order by due_s
        limit $at_most
    ) as unmarked
) as due

-- name: delete_task
-- Deletes the task $kind of the token $token_id.
delete from task where kind = $kind and token_id = $token_id

-- name: find_due
-- One row: whether a task $kind of $chain_id is due at $now_s.
select
    (
        select token_id from task
        where kind = $kind and chain_id = $chain_id and is_due = 1
        order by worth desc, token_id
        limit 1
    ) is not null or (
        select token_id from task
        where kind = $kind and chain_id = $chain_id and is_due = 0 and due_s <= $now_s
        order by due_s
        limit 1
    ) is not null as has_any

-- name: put_changed_from
-- Makes the analysis of each watched token of $chain_id with a report at or above the block
-- $number due immediately: those blocks are orphaned.
insert into task (kind, token_id, chain_id, worth, due_s, is_due)
select 'changed', report.token_id, report.chain_id, $worth, 0, 0
from (
    select distinct watch_token.token_id
    from watch_token
    join watch on watch.id = watch_token.watch_id
    where watch.is_paused = 0
) wanted
join report on report.token_id = wanted.token_id
where report.chain_id = $chain_id and report.block_number >= $number
on conflict (kind, token_id) do update set due_s = 0, is_due = 0

-- name: put_task
-- Sets worth and time of the task $kind of the token $token_id.
insert into task (kind, token_id, chain_id, worth, due_s, is_due)
values ($kind, $token_id, $chain_id, $worth, $due_s, 0)
on conflict (kind, token_id) do update set
    worth = excluded.worth, due_s = excluded.due_s, is_due = 0

-- name: take_tasks
-- One row per task among the $at_most due tasks $kind of $chain_id with the highest worth; they
-- are postponed to $again_s.
update task set is_due = 0, due_s = $again_s
where kind = $kind and token_id in (
    select token_id from task
    where kind = $kind and chain_id = $chain_id and is_due = 1
    order by worth desc, token_id
    limit $at_most
)
returning token_id, worth

-- name: wake_tasks
-- Marks tasks $kind of $chain_id whose time has come by $now_s as due; at most $at_most.
update task set is_due = 1
where kind = $kind and token_id in (
    select token_id from task
    where kind = $kind and chain_id = $chain_id and is_due = 0 and due_s <= $now_s
    order by due_s
    limit $at_most
)
