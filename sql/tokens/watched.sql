-- name: delete_reserves
-- Deletes the reserves of the pools of the token $token_id.
delete from watched_reserves where token_id = $token_id

-- name: delete_unwatched
-- Deletes the reserves of the pools of tokens that are no longer watched.
delete from watched_reserves
where token_id in (
    select known.token_id
    from watched_reserves known
    where not exists (select 1 from watch_token where watch_token.token_id = known.token_id)
)

-- name: find_block
-- One row, or none: the block $number of $chain_id, if it has this $hash.
select number from block where chain_id = $chain_id and number = $number and hash = $hash

-- name: find_reserves
-- One row, or none: the reserves of the pools of the token $token_id at $report_block.
select reserves from watched_reserves where token_id = $token_id and report_block = $report_block

-- name: find_revision
-- One row: the number that grows with the set of watched tokens and with their reports.
select revision from watch_revision where id = 1

-- name: list_pools
-- One row per pool among the $at_most deepest in the reports of the watched tokens of $chain_id.
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

-- name: list_tokens
-- One row per watched token of $chain_id: the parts of its report that new blocks are compared
-- with; NULLs without a report.
select
    token.token_id,
    token.address,
    report.block_number as report_block,
    report.scanned_at_s,
    report.is_settled,
    report.owner_address as owner
from (
    select distinct watch_token.token_id
    from watch_token
    join watch on watch.id = watch_token.watch_id
    where watch.is_paused = 0
) wanted
join token on token.token_id = wanted.token_id
left join report on report.token_id = token.token_id
where token.chain_id = $chain_id

-- name: put_reserves
-- Sets the reserves of the pools of the token $token_id at the block of its report.
insert into watched_reserves (token_id, report_block, reserves)
values ($token_id, $report_block, $reserves)
on conflict (token_id) do update set
    report_block = excluded.report_block, reserves = excluded.reserves

-- name: raise_revision
-- Raises the revision of watched tokens if the token $token_id is one, because it has another
-- report.
update watch_revision set revision = revision + 1
where id = 1 and exists (select 1 from watch_token where token_id = $token_id)
