-- One row per stream of $chain_id, by name.
select chain_id, stream, number, hash
from checkpoint
where chain_id = $chain_id
order by stream
