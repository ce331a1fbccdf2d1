-- Removes the pools of $chain_id that were made at $number or above; their sides go before.
delete from pool where chain_id = $chain_id and block_number >= $number
