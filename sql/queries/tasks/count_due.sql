-- One row: how many tasks $kind of $chain_id are due at $now_s, by how long; of those that are marked
-- so and of those that are not, $at_most are counted each.
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
