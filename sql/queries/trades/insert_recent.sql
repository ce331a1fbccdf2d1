-- One final trade, for prices.
insert into recent_trade (
    chain_id, block_number, log_index, pool_no, time_s, amount0, amount1
)
values (?, ?, ?, ?, ?, ?, ?)
on conflict (pool_no, block_number, log_index) do update set
    chain_id = excluded.chain_id,
    time_s = excluded.time_s,
    amount0 = excluded.amount0,
    amount1 = excluded.amount1
