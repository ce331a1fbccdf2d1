-- One event of a pool that is not stored yet.
insert into liquidity_event (chain_id, block_number, log_index, pool_no, topics, data)
values (?, ?, ?, ?, ?, ?)
on conflict do nothing
