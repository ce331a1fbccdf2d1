-- As for SQLite.
select pool_key, pool_no, pool, kind, token0, token1, block_number, log_index
from pool
where
    chain_id = $chain_id
    and pool_key = any (
        array(select decode(value, 'hex') from jsonb_array_elements_text($pool_keys::jsonb) as value)
    )
