-- One row for each of the $at_most deepest pools in the reports of the watched tokens of $chain_id.
select
    report_pool.token_id,
    report_pool.pool,
    report_pool.pool_id,
    report_pool.kind,
    report_pool.dex,
    report_pool.quote,
    pool.token0,
    pool.hooks,
    report_pool.buy,
    report_pool.buy_tax,
    report_pool.sell,
    report_pool.sell_tax
from (
    select distinct watch_token.token_id
    from watch_token
    join watch on watch.id = watch_token.watch_id
    where watch.is_paused = 0
) wanted
join report on report.token_id = wanted.token_id
join report_pool on report_pool.token_id = report.token_id
left join pool
    on pool.chain_id = $chain_id and pool.pool_key = coalesce(report_pool.pool_id, report_pool.pool)
where report.chain_id = $chain_id and report_pool.ordinal < $at_most
