-- One row, or none: the deepest pool of the report of the token $token_id, and what it predicts there.
select
    report_pool.token_id,
    report.address as token,
    report_pool.pool,
    report_pool.pool_id,
    report_pool.kind,
    report_pool.quote,
    null as token0,
    null as hooks,
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
where report_pool.token_id = $token_id and report_pool.ordinal = 0 and report_pool.pool_id is null
