-- One row per token whose pools hold more than $above_usd, the most first.
select
    report.chain_id, report.address, report.name, report.symbol, report.block_hash,
    report.scanned_at_s, search_entry.usd
from search_entry
join report on report.token_id = search_entry.token_id
where search_entry.usd > $above_usd
order by search_entry.usd desc
limit $at_most
