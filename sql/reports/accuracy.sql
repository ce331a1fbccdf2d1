-- name: add_up
-- Adds the counts of the blocks of $chain_id up to the final one $final to those of their days.
insert into accuracy_count (
    chain_id, day_s, block_number, dex, flag, age, agreed, disagreed, explained, uncounted
)
select
    chain_id, day_s, -1, dex, flag, age, sum(agreed), sum(disagreed), sum(explained), sum(uncounted)
from accuracy_count
where chain_id = $chain_id and block_number >= 0 and block_number <= $final
group by chain_id, day_s, dex, flag, age
on conflict (chain_id, day_s, block_number, dex, flag, age) do update set
    agreed = accuracy_count.agreed + excluded.agreed,
    disagreed = accuracy_count.disagreed + excluded.disagreed,
    explained = accuracy_count.explained + excluded.explained,
    uncounted = accuracy_count.uncounted + excluded.uncounted

-- name: count_kept
-- One row: the number of stored disagreements of the token $token_id above the block $above.
select count(*) as kept from disagreement where token_id = $token_id and block_number > $above

-- name: count_sales
-- One row: the sales of the token $token_id among its $at_most newest disagreements that failed or
-- paid another tax than predicted, in all and since $since_s (Unix seconds), in blocks up to $up_to.
-- Failures count once a later report predicts them; so does a tax that may be the trader's own doing.
select
    coalesce(sum(is_failure), 0) as failed,
    coalesce(sum(case when block_time_s > $since_s then is_failure end), 0) as failed_last_day,
    coalesce(sum(is_other_tax), 0) as taxed_otherwise,
    coalesce(sum(case when block_time_s > $since_s then is_other_tax end), 0)
        as taxed_otherwise_last_day
from (
    select
        block_time_s,
        case when
            flag = 'sell_success' and observed = 'failed' and explanation in ('time', 'owner', 'changed')
            then 1 else 0 end as is_failure,
        case when
            flag = 'sell_tax' and (is_certain = 1 or explanation in ('time', 'owner', 'changed'))
            then 1 else 0 end as is_other_tax
    from disagreement
    where token_id = $token_id and block_number <= $up_to
    order by block_number desc
    limit $at_most
) known

-- name: delete_added_up
-- Deletes the counts of single blocks of $chain_id up to $final, which are in those of their
-- days.
delete from accuracy_count where chain_id = $chain_id and block_number >= 0 and block_number <= $final

-- name: delete_counts_from
-- Deletes the counts of $chain_id from the block $number on.
delete from accuracy_count where chain_id = $chain_id and block_number >= $number

-- name: delete_from
-- Deletes the disagreements of $chain_id from the block $number on.
delete from disagreement where chain_id = $chain_id and block_number >= $number

-- name: delete_of_token
-- Deletes the disagreements of the token $token_id.
delete from disagreement where token_id = $token_id

-- name: delete_old
-- Deletes those of the $at_most oldest disagreements of a chain that are in blocks before
-- $before_s. The inner limit bounds the rows it reads.
delete from disagreement
where disagreement_id in (
    select disagreement_id
    from (
        select disagreement_id, block_time_s
        from disagreement
        where chain_id = $chain_id and block_number >= 0
        order by block_number
        limit $at_most
    ) known
    where block_time_s < $before_s
)

-- name: delete_old_counts
-- Deletes the counts of days of $chain_id before $before_s.
delete from accuracy_count where chain_id = $chain_id and day_s < $before_s

-- name: find_deepest
-- One row, or none: the deepest pool in the report of the token $token_id, with its predictions.
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

-- name: find_last_settled
-- One row, or none: the newest disagreement of the token $token_id that a later report settled.
select block_time_s, explanation
from disagreement
where token_id = $token_id and settled_block is not null
order by block_number desc
limit 1

-- name: find_owner_call
-- One row, or none: a call of the token $token_id by its owner, or an event of its parameters,
-- in a block above $above up to $up_to.
select block_number
from observation
where
    token_id = $token_id
    and block_number > $above
    and block_number <= $up_to
    and kind in ('owner_call', 'parameter_event', 'ownership_event')
limit 1

-- name: list_counts
-- One row per exchange, flag and age of reports: the counts of $chain_id since the day $from_s.
select
    dex,
    flag,
    age,
    cast(sum(agreed) as bigint) as agreed,
    cast(sum(disagreed) as bigint) as disagreed,
    cast(sum(explained) as bigint) as explained,
    cast(sum(uncounted) as bigint) as uncounted
from accuracy_count
where chain_id = $chain_id and day_s >= $from_s
group by dex, flag, age

-- name: list_newest
-- One row per disagreement among the newest $at_most on $chain_id, newest first; with $counted 1
-- only those that count: certain ones, and those that a later report confirmed.
select
    disagreement.disagreement_id,
    token.address as token,
    disagreement.block_number,
    disagreement.block_time_s,
    disagreement.tx_hash,
    disagreement.trader,
    disagreement.pool,
    disagreement.dex,
    disagreement.flag,
    disagreement.report_block,
    disagreement.predicted,
    disagreement.observed,
    disagreement.is_certain,
    disagreement.explanation
from disagreement
cross join token on token.token_id = disagreement.token_id
where
    disagreement.chain_id = $chain_id
    and disagreement.block_number >= 0
    and (
        $counted = 0
        or disagreement.is_certain = 1
        or disagreement.explanation in ('time', 'owner', 'changed', 'size')
    )
order by disagreement.block_number desc
limit $at_most

-- name: list_pools
-- One row per pool with an address among $pools, or an id among $pool_ids (JSON arrays of hex),
-- in a report of a token of $chain_id: its predictions.
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

-- name: list_pools postgres
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

-- name: list_settled_from
-- One row per disagreement on $chain_id that a report of the block $number or above settled.
select
    disagreement_id, chain_id, block_number, block_time_s, token_id, tx_hash, log_index, trader, pool,
    dex, flag, age, report_block, predicted, observed, is_certain, has_clock, settled_block, explanation
from disagreement
where chain_id = $chain_id and settled_block >= $number

-- name: list_transfers
-- One row per token of $chain_id at an address among $tokens (a JSON array of hex) whose report
-- predicts transfers.
select
    report.token_id,
    report.address as token,
    report.transfer_success,
    report.block_number as report_block,
    report.block_time_s as report_time_s,
    report.owner_address as owner,
    report.creator_address as creator
from token
cross join report on report.token_id = token.token_id
where
    token.chain_id = $chain_id
    and token.address in (select from_hex(value) from json_each($tokens))
    and report.transfer_success is not null

-- name: list_transfers postgres
-- As for SQLite.
select
    report.token_id,
    report.address as token,
    report.transfer_success,
    report.block_number as report_block,
    report.block_time_s as report_time_s,
    report.owner_address as owner,
    report.creator_address as creator
from token
cross join report on report.token_id = token.token_id
where
    token.chain_id = $chain_id
    and token.address = any (
        array(select decode(value, 'hex') from jsonb_array_elements_text($tokens::jsonb) as value)
    )
    and report.transfer_success is not null

-- name: list_unsettled
-- One row per disagreement of the token $token_id that no later report has settled.
select
    disagreement_id, chain_id, block_number, block_time_s, token_id, tx_hash, log_index, trader, pool,
    dex, flag, age, report_block, predicted, observed, is_certain, has_clock, settled_block, explanation
from disagreement
where token_id = $token_id and block_number >= 0 and settled_block is null

-- name: move_count
-- Moves one observation in the counts of a block, or of a day if $block_number is -1.
update accuracy_count
set disagreed = disagreed + $disagreed, explained = explained + $explained, uncounted = uncounted - $disagreed
where
    chain_id = $chain_id
    and day_s = $day_s
    and block_number = $block_number
    and dex = $dex
    and flag = $flag
    and age = $age

-- name: settle
-- Sets the result of a later report for the disagreement $disagreement_id; NULLs: it is open
-- again.
update disagreement set settled_block = $settled_block, explanation = $explanation
where disagreement_id = $disagreement_id
