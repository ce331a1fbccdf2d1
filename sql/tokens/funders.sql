-- name: count_funded
-- One row: how many accounts of $chain_id got their first coins from $funder, $at_most counted.
select count(*) as accounts
from (
    select account from funder
    where chain_id = $chain_id and funder = $funder
    limit $at_most
) as known

-- name: find_creator
-- One row, or none: the creator that the report on the token $token_id names.
select chain_id, address, creator_address as creator
from report
where token_id = $token_id and creator_address is not null

-- name: find_funder
-- One row, or none: who gave $account on $chain_id its first coins.
select chain_id, account, funder, block_number, tx_hash
from funder
where chain_id = $chain_id and account = $account
