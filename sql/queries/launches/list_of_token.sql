-- One row per platform that announced the token $token on $chain_id, in order of the events.
select chain_id, token, slug, emitter, creator, tx_hash, block_number, log_index
from launch
where chain_id = $chain_id and token = $token
order by block_number, log_index, slug
