-- One row, or none: how far the stream has come.
select chain_id, stream, number, hash
from checkpoint
where chain_id = $chain_id and stream = $stream
