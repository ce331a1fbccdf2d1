-- One row per pool of $chain_id with one of the keys $pool_keys (a JSON array of hex), as far as a
-- swap is checked against it.
select pool_key, pool_no, pool, kind, token0, token1, block_number, log_index
from pool
where chain_id = $chain_id and pool_key in (select from_hex(value) from json_each($pool_keys))
