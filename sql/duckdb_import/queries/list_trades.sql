-- One row per trade.
select
    rowid, chain_id, block_number, log_index, time_s, pool_key, amount0, amount1
from trade
where rowid > $above and rowid <= $up_to
order by rowid
