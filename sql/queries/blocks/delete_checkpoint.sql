-- Removes the checkpoint of one stream.
delete from checkpoint where chain_id = $chain_id and stream = $stream
