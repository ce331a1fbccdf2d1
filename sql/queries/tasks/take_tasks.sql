-- One row for each of the $at_most tasks $kind of $chain_id that are due and worth most; they are put
-- off to $again_s.
update task set is_due = 0, due_s = $again_s
where kind = $kind and token_id in (
    select token_id from task
    where kind = $kind and chain_id = $chain_id and is_due = 1
    order by worth desc, token_id
    limit $at_most
)
returning token_id, worth
