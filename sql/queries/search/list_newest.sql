-- One row per token with a report, the last that came to be tracked first.
select
    report.chain_id, report.address, report.name, report.symbol, report.block_hash,
    report.scanned_at_s, search_entry.usd
from search_entry
join report on report.token_id = search_entry.token_id
where search_entry.token_id > 0
order by search_entry.token_id desc
limit $at_most
