-- One side of a pool.
insert into pool_side (chain_id, token, block_number, log_index, pool_no, other)
values (?, ?, ?, ?, ?, ?)
