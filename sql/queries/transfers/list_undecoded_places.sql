-- One row per undecoded log of $chain_id from $from_block to $to_block: where it stands.
select block_number, log_index::bigint as log_index
from undecoded
where chain_id = $chain_id and block_number between $from_block and $to_block
order by block_number, log_index
