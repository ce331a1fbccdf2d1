-- The analysis of each watched token of $chain_id whose report is of the block $number or above is due
-- anew, at once: those blocks are gone.
insert into task (kind, token_id, chain_id, worth, due_s, is_due)
select 'changed', report.token_id, report.chain_id, $worth, 0, 0
from (
    select distinct watch_token.token_id
    from watch_token
    join watch on watch.id = watch_token.watch_id
    where watch.is_paused = 0
) wanted
join report on report.token_id = wanted.token_id
where report.chain_id = $chain_id and report.block_number >= $number
on conflict (kind, token_id) do update set due_s = 0, is_due = 0
