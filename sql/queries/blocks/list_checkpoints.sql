-- One row per stream of $chain_id, by name: how far it has come.
select chain_id, stream, number, hash
from checkpoint
where chain_id = $chain_id
order by stream
