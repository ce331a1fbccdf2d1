-- One final trade, for prices.
insert or replace into recent_trade (
    chain_id, block_number, log_index, pool_no, time_s, amount0, amount1
)
values (?, ?, ?, ?, ?, ?, ?)
