-- One row per pool of chain {chain_id} with a number above {above} and up to {to}, as text.
select
    pool_no, lower(hex(pool_key)) as pool_key, lower(hex(pool)) as pool,
    lower(hex(pool_id)) as pool_id, pool_id is null as has_no_id, dex, kind, variant,
    lower(hex(factory)) as factory, lower(hex(token0)) as token0, lower(hex(token1)) as token1,
    fee, tick_spacing, stable, lower(hex(hooks)) as hooks, hooks is null as has_no_hooks,
    block_number, log_index
from pool
where chain_id = {chain_id} and pool_no > {above} and pool_no <= {to}
order by pool_no
