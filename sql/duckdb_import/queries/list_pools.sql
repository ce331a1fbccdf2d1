-- One row per pool.
select
    rowid, chain_id, pool_key, pool, pool_id, dex, kind, variant, factory, token0, token1, fee,
    tick_spacing, stable, hooks, block_number, log_index
from pool
where rowid > $above and rowid <= $up_to
order by rowid
