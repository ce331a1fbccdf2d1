-- name: count_funded
-- One row: the number of accounts of $chain_id that $funder funded, counted up to $at_most.
select count(*) as accounts
from (
    select account from funder
    where chain_id = $chain_id and funder = $funder
    limit $at_most
) as known

-- name: find_creator
-- One row, or none: the creator in the report on the token $token_id.
select chain_id, address, creator_address as creator
from report
where token_id = $token_id and creator_address is not null

-- name: find_funder
-- One row, or none: the looked-up funder of $account on $chain_id.
select chain_id, account, funder, block_number, tx_hash
from funder
where chain_id = $chain_id and account = $account
