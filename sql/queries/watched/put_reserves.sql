-- What pools of the token $token_id held at the block of its report, in place of what was stored.
insert into watched_reserves (token_id, report_block, reserves)
values ($token_id, $report_block, $reserves)
on conflict (token_id) do update set
    report_block = excluded.report_block, reserves = excluded.reserves
