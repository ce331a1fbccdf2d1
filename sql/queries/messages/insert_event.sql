-- One row: the number of what is told.
insert into watch_event (chain_id, address, block_number, block_hash, block_time_s, seen_at_s, body)
values ($chain_id, $address, $block_number, $block_hash, $block_time_s, $seen_at_s, $body)
returning id
