-- One row per pool that batch {batch} has trades of, as text. Run by PostgreSQL itself, like tokens.
select
    pool_no, encode(pool_key, 'hex') as pool_key, dex, kind,
    encode(token0, 'hex') as token0, encode(token1, 'hex') as token1
from pool
where pool_no in (select pool_no from final_trade where batch = {batch})
