-- One row per analysed token of $tier on $chain_id, but $token_id, with the search term $term.
select
    report.address, report.name, report.symbol, report.scanned_at_s,
    judgement.verdict, judgement.can_sell, judgement.liquidity_usd
from search_term
join report on report.token_id = search_term.token_id
left join judgement on judgement.token_id = search_term.token_id
where search_term.chain_id = $chain_id and search_term.tier = $tier
    and search_term.term = $term and search_term.token_id <> $token_id
order by search_term.token_id
limit $at_most
