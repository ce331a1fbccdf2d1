-- One row, or none: what was found out about who made the token $token on $chain_id.
select chain_id, token, creator, block_number, tx_hash
from creator
where chain_id = $chain_id and token = $token
