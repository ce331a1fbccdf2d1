-- One pool, unless one of that key is stored.
insert into pool (
    chain_id, pool_key, pool, pool_id, dex, kind, variant, factory, token0, token1, fee,
    tick_spacing, stable, hooks, block_number, log_index
)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict do nothing
