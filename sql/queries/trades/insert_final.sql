-- One final trade, for the lake, unless it waits there already: a range may be filled twice.
insert into final_trade (batch, block_number, log_index, pool_no, time_s, amount0, amount1)
values (?, ?, ?, ?, ?, ?, ?)
on conflict do nothing
