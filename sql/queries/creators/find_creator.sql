-- One row, or none: what was found out about who made the token $token on $chain_id.
select chain_id, token, creator, block_number, tx_hash
from creator
where token = $token and chain_id = $chain_id
order by block_number
limit 1
