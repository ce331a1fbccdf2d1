-- Writes the pools that $scan reads of the serving state.
insert into lake.pool
select
    pool_no::integer, $chain_id, '0x' || pool_key, '0x' || pool,
    case when has_no_id = '0' then '0x' || pool_id end, dex, kind, variant,
    '0x' || factory, '0x' || token0, '0x' || token1, fee::bigint, tick_spacing::bigint,
    stable::integer::boolean, case when has_no_hooks = '0' then '0x' || hooks end,
    block_number::bigint, log_index::integer
from serving_rows($scan)
order by pool_no::integer
