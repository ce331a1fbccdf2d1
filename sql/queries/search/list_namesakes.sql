-- One row per token of $tier with one of the terms $asked, a JSON array of [chain id, term]; of each
-- term the first $at_most tokens.
select
    report.chain_id, report.address, report.name, report.symbol, report.block_hash,
    report.scanned_at_s, search_entry.usd
from json_each($asked)
join search_term on search_term.chain_id = json_extract(json_each.value, '$[0]')
    and search_term.tier = $tier
    and search_term.term = json_extract(json_each.value, '$[1]')
    and search_term.token_id in (
        select nearest.token_id from search_term as nearest
        where nearest.chain_id = json_extract(json_each.value, '$[0]') and nearest.tier = $tier
            and nearest.term = json_extract(json_each.value, '$[1]')
        order by nearest.token_id
        limit $at_most
    )
join search_entry on search_entry.token_id = search_term.token_id
join report on report.token_id = search_term.token_id
order by json_each.key, search_term.token_id
