-- Tasks $kind of $chain_id whose time has come by $now_s are due from now on; $at_most of them.
update task set is_due = 1
where kind = $kind and token_id in (
    select token_id from task
    where kind = $kind and chain_id = $chain_id and is_due = 0 and due_s <= $now_s
    order by due_s
    limit $at_most
)
