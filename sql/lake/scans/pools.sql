-- One row per pool that batch {batch} has trades of, as text. Run by SQLite itself, like tokens.
select
    pool_no, lower(hex(pool_key)) as pool_key, dex, kind,
    lower(hex(token0)) as token0, lower(hex(token1)) as token1
from pool
where pool_no in (select pool_no from final_trade where batch = {batch})
