-- name: add_count
-- Adds to the counts of a set of findings; takes a token from them with negative numbers.
insert into outcome_count (chain_id, findings, known, trapped)
values ($chain_id, $findings, $known, $trapped)
on conflict (chain_id, findings) do update set
    known = outcome_count.known + excluded.known,
    trapped = outcome_count.trapped + excluded.trapped

-- name: delete_outcome
-- Deletes the outcome of the token at $address.
delete from token_outcome where chain_id = $chain_id and address = $address

-- name: find_outcome
-- One row, or none: the outcome of the token at $address.
select findings, is_trapped from token_outcome where chain_id = $chain_id and address = $address

-- name: insert_outcome
-- Stores the outcome of a token that has none.
insert into token_outcome (chain_id, address, findings, is_trapped, block_number)
values ($chain_id, $address, $findings, $is_trapped, $block_number)

-- name: list_known
-- One row per set of findings on $chain_id with at least $least outcomes, most first; at most
-- $at_most.
select findings, known, trapped
from outcome_count
where chain_id = $chain_id and known >= $least
order by known desc
limit $at_most
