-- One trade that is not stored yet.
insert into trade (
    chain_id, block_number, log_index, pool_no, time_s, amount0, amount1
)
values (?, ?, ?, ?, ?, ?, ?)
on conflict do nothing
