-- One row per pool of chain {chain_id} with a number above {above} and up to {to}, as text.
select
    pool_no, encode(pool_key, 'hex') as pool_key, encode(pool, 'hex') as pool,
    encode(pool_id, 'hex') as pool_id, (pool_id is null)::integer::text as has_no_id, dex, kind, variant,
    encode(factory, 'hex') as factory, encode(token0, 'hex') as token0, encode(token1, 'hex') as token1,
    fee, tick_spacing, stable, encode(hooks, 'hex') as hooks, (hooks is null)::integer::text as has_no_hooks,
    block_number, log_index
from pool
where chain_id = {chain_id} and pool_no > {above} and pool_no <= {to}
order by pool_no
