-- name: count_of_chain
-- One row: the disputes on $chain_id filed after $since_s, at most $at_most, and the first of them.
select count(*) as filed, min(filed_at_s) as first_s
from (
    select filed_at_s from dispute
    where chain_id = $chain_id and filed_at_s > $since_s
    order by filed_at_s
    limit $at_most
) known

-- name: count_of_key
-- One row: the disputes of the key $key_id filed after $since_s, at most $at_most, and the first of
-- them.
select count(*) as filed, min(filed_at_s) as first_s
from (
    select filed_at_s from dispute
    where key_id = $key_id and filed_at_s > $since_s
    order by filed_at_s
    limit $at_most
) known

-- name: count_of_token
-- One row: the disputes of the token at $address filed after $since_s, at most $at_most, and the
-- first of them.
select count(*) as filed, min(filed_at_s) as first_s
from (
    select filed_at_s from dispute
    where chain_id = $chain_id and address = $address and filed_at_s > $since_s
    order by filed_at_s
    limit $at_most
) known

-- name: delete_old
-- Deletes $at_most of the oldest disputes on $chain_id that were filed before $before_s.
delete from dispute
where dispute_id in (
    select dispute_id from dispute
    where chain_id = $chain_id and filed_at_s < $before_s
    order by filed_at_s
    limit $at_most
)

-- name: find_due
-- One row, or none: the dispute on $chain_id whose analysis has been due for longest at $now_s. The
-- sign keeps SQLite from the index of all disputes of the chain.
select dispute_id, chain_id, address, attempts, due_s
from dispute
where due_s <= $now_s and +chain_id = $chain_id
order by due_s
limit 1

-- name: find_pack
-- One row, or none: the evidence pack of the dispute $dispute_id of the token at $address.
select pack from dispute
where
    dispute_id = $dispute_id and chain_id = $chain_id and address = $address
    and pack is not null

-- name: insert_dispute
-- One row: the number of a new dispute.
insert into dispute (
    chain_id, address, key_id, filed_at_s, sender, statement, verdict_before, reasons_before,
    block_before, due_s
)
values (
    $chain_id, $address, $key_id, $filed_at_s, $sender, $statement, $verdict_before,
    $reasons_before, $block_before, $filed_at_s
)
returning dispute_id

-- name: list_newest
-- One row per dispute on $chain_id among the newest $at_most, newest first.
select
    dispute_id, address, filed_at_s, sender, statement, verdict_before, reasons_before,
    block_before, due_s is null as is_settled, settled_at_s, verdict_after, reasons_after,
    block_after, signer, failure
from dispute
where chain_id = $chain_id and filed_at_s >= 0
order by filed_at_s desc
limit $at_most

-- name: list_of_token
-- One row per dispute of the token at $address among the newest $at_most, newest first.
select
    dispute_id, address, filed_at_s, sender, statement, verdict_before, reasons_before,
    block_before, due_s is null as is_settled, settled_at_s, verdict_after, reasons_after,
    block_after, signer, failure
from dispute
where chain_id = $chain_id and address = $address
order by filed_at_s desc
limit $at_most

-- name: settle
-- Ends the dispute $dispute_id with an analysis, or with the reason why there is none; nothing
-- changes if it has ended.
update dispute set
    due_s = null, settled_at_s = $settled_at_s, verdict_after = $verdict_after,
    reasons_after = $reasons_after, block_after = $block_after, signer = $signer, pack = $pack,
    failure = $failure
where dispute_id = $dispute_id and due_s is not null

-- name: take
-- Begins an attempt of the dispute $dispute_id, which other processes leave alone until $until_s.
update dispute set attempts = attempts + 1, due_s = $until_s where dispute_id = $dispute_id
