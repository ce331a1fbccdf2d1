-- One observation for each watched token of $chain_id whose report is of a block before $first: blocks up
-- to $last were not read one by one. None where one after the report says so already.
insert into observation (chain_id, block_number, block_time_s, token_id, kind, what)
select $chain_id, $last, $time_s, report.token_id, 'gap', $what
from (
    select distinct watch_token.token_id
    from watch_token
    join watch on watch.id = watch_token.watch_id
    where watch.is_paused = 0
) wanted
join report on report.token_id = wanted.token_id
where
    report.chain_id = $chain_id
    and report.block_number < $first
    and not exists (
        select 1 from observation known
        where
            known.token_id = report.token_id
            and known.block_number > report.block_number
            and known.kind = 'gap'
    )
returning token_id
