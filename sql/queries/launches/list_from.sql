-- One row per token of $chain_id that was launched at $number or above: its address.
select token from launch where chain_id = $chain_id and block_number >= $number
