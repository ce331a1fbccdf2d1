-- As for SQLite.
select
    report_pool.token_id,
    report.address as token,
    report_pool.pool,
    report_pool.pool_id,
    report_pool.kind,
    report_pool.quote,
    pool.token0,
    pool.hooks,
    report_pool.dex,
    report_pool.buy,
    report_pool.buy_tax,
    report_pool.sell,
    report_pool.sell_tax,
    report.block_number as report_block,
    report.block_time_s as report_time_s,
    report.owner_address as owner,
    report.creator_address as creator
from report_pool
cross join report on report.token_id = report_pool.token_id
left join pool
    on pool.chain_id = $chain_id and pool.pool_key = coalesce(report_pool.pool_id, report_pool.pool)
where
    report_pool.pool = any (
        array(select decode(value, 'hex') from jsonb_array_elements_text($pools::jsonb) as value)
    )
    and report_pool.pool_id is null
    and report.chain_id = $chain_id
union all
select
    report_pool.token_id,
    report.address as token,
    report_pool.pool,
    report_pool.pool_id,
    report_pool.kind,
    report_pool.quote,
    pool.token0,
    pool.hooks,
    report_pool.dex,
    report_pool.buy,
    report_pool.buy_tax,
    report_pool.sell,
    report_pool.sell_tax,
    report.block_number as report_block,
    report.block_time_s as report_time_s,
    report.owner_address as owner,
    report.creator_address as creator
from report_pool
cross join report on report.token_id = report_pool.token_id
left join pool
    on pool.chain_id = $chain_id and pool.pool_key = coalesce(report_pool.pool_id, report_pool.pool)
where
    report_pool.pool_id = any (
        array(
            select decode(value, 'hex') from jsonb_array_elements_text($pool_ids::jsonb) as value
        )
    )
    and report.chain_id = $chain_id
