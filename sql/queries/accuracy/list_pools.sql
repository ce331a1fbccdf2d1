-- One row per pool with an address among $pools, or an id among $pool_ids (JSON arrays of hex), in a
-- report of a token of $chain_id: what it predicts there.
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
    report_pool.pool in (select from_hex(value) from json_each($pools))
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
    report_pool.pool_id in (select from_hex(value) from json_each($pool_ids))
    and report.chain_id = $chain_id
