-- name: delete_from
-- Deletes the transfers of $chain_id from $number on.
delete from transfer where chain_id = $chain_id and block_number >= $number

-- name: delete_hot
-- Deletes one transfer that has become final.
delete from transfer where chain_id = ? and block_number = ? and log_index = ?

-- name: delete_hot_undecoded
-- Deletes one undecoded log that has become final.
delete from undecoded where chain_id = ? and block_number = ? and log_index = ?

-- name: delete_of_token
-- Deletes the transfers of the token $token_id that are not final yet.
delete from transfer where token_id = $token_id

-- name: delete_undecoded_from
-- Deletes the undecoded logs of $chain_id from $number on.
delete from undecoded where chain_id = $chain_id and block_number >= $number

-- name: insert_final
-- Queues one final transfer for the lake.
insert into final_transfer (
    batch, block_number, log_index, token_id, sender, recipient, amount, time_s
)
values (?, ?, ?, ?, ?, ?, ?, ?)

-- name: insert_final_undecoded
-- Queues one final undecoded log for the lake, unless it is queued already: a range may be
-- filled twice.
insert into final_undecoded (
    batch, block_number, log_index, address, topic0, topic_count, data
)
values (?, ?, ?, ?, ?, ?, ?)
on conflict do nothing

-- name: insert_transfer
-- Stores one transfer unless it is stored.
insert into transfer (
    chain_id, block_number, log_index, token_id, sender, recipient, amount, time_s
)
values (?, ?, ?, ?, ?, ?, ?, ?)
on conflict do nothing

-- name: list_final
-- One row per transfer among the first $at_most of $chain_id up to block $final.
select block_number, log_index, token_id, sender, recipient, amount, time_s
from transfer
where chain_id = $chain_id and block_number <= $final
order by block_number, log_index
limit $at_most

-- name: list_final_undecoded
-- One row per undecoded log among the first $at_most of $chain_id up to block $final.
select block_number, log_index, address, topic0, topic_count, data
from undecoded
where chain_id = $chain_id and block_number <= $final
order by block_number, log_index
limit $at_most

-- name: list_first_of_token
-- One row per transfer among $at_most of the token $token_id that are not in `balance` yet.
select sender, recipient, amount from transfer where token_id = $token_id limit $at_most

-- name: list_of_token
-- One row per transfer of the token $token_id that is not in `balance` yet.
select sender, recipient, amount from transfer where token_id = $token_id
