-- One row per term of $tier on $chain_id from $low to below $high: the token it is of.
select
    report.chain_id, report.address, report.name, report.symbol, report.block_hash,
    report.scanned_at_s, search_entry.usd
from search_term
join search_entry on search_entry.token_id = search_term.token_id
join report on report.token_id = search_term.token_id
where search_term.chain_id = $chain_id and search_term.tier = $tier
    and search_term.term >= $low and search_term.term < $high
order by search_term.term, search_term.token_id
limit $at_most
