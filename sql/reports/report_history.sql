-- name: delete_from
-- Deletes the entries at blocks from $number on.
delete from report_history where chain_id = $chain_id and block_number >= $number

-- name: delete_of_token
-- Deletes all entries of $token_id.
delete from report_history where token_id = $token_id

-- name: delete_old
-- Deletes those of the $at_most oldest entries of a chain that were made before $before_s. The
-- inner limit bounds the rows it reads.
delete from report_history
where (chain_id, block_number, token_id, scanned_at_s) in (
    select chain_id, block_number, token_id, scanned_at_s
    from (
        select chain_id, block_number, token_id, scanned_at_s
        from report_history
        where chain_id = $chain_id and block_number >= 0
        order by block_number
        limit $at_most
    ) known
    where scanned_at_s < $before_s
)

-- name: delete_state
-- Deletes the last state of $token_id.
delete from report_state where token_id = $token_id

-- name: find_entry
-- One row, or none: the changes of a report of $token_id in the history.
select changes from report_history
where
    chain_id = $chain_id and block_number = $block_number
    and token_id = $token_id and scanned_at_s = $scanned_at_s

-- name: find_other_hash
-- One row, or none: a stored block with this number and another hash than $hash.
select number from block where chain_id = $chain_id and number = $number and hash <> $hash

-- name: find_state
-- One row, or none: the last state of $token_id.
select state from report_state where token_id = $token_id

-- name: list_from
-- One row per entry at a block from $number on, newest first.
select token_id, changes
from report_history
where chain_id = $chain_id and block_number >= $number
order by block_number desc, token_id desc, scanned_at_s desc

-- name: put_state
-- Sets the last state of $token_id.
insert into report_state (token_id, state) values ($token_id, $state)
on conflict (token_id) do update set state = excluded.state
