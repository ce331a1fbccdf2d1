-- One row per token of $chain_id that was first seen at $number or above: its address.
select address from token where chain_id = $chain_id and first_seen_block >= $number
