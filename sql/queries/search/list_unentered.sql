-- One row per report of the tokens after $done and up to $until: what a search has to know, and
-- whether the token is entered.
select
    report.token_id, report.chain_id, report.name, report.symbol,
    (
        select coalesce(sum(report_pool.quote_side_usd), 0.0) from report_pool
        where report_pool.token_id = report.token_id
    ) as usd,
    search_entry.token_id is not null as is_entered
from report
left join search_entry on search_entry.token_id = report.token_id
where report.token_id > $done and report.token_id <= $until
order by report.token_id
limit $at_most
