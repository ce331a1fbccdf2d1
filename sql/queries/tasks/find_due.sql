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
