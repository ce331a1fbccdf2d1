-- One row per watched token of $chain_id: what its report says that new blocks are compared with; NULLs
-- where there is no report.
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
