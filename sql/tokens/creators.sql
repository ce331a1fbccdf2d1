-- name: find_creator
-- One row, or none: the looked-up creator of the token $token on $chain_id.
select chain_id, token, creator, block_number, tx_hash
from creator
where chain_id = $chain_id and token = $token

-- name: find_creatorless
-- One row, or none: the report on the token $token_id, if it has no creator.
select address, block_hash
from report
where token_id = $token_id and creator_address is null
