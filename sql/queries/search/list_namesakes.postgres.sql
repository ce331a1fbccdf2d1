-- As for SQLite.
select
    report.chain_id, report.address, report.name, report.symbol, report.block_hash,
    report.scanned_at_s, search_entry.usd
from jsonb_array_elements($asked::jsonb) with ordinality as asked (name, place)
cross join lateral (
    select search_term.token_id
    from search_term
    where
        search_term.chain_id = (asked.name ->> 0)::bigint
        and search_term.tier = $tier
        and search_term.term = asked.name ->> 1
    order by search_term.token_id
    limit $at_most
) as nearest
join search_entry on search_entry.token_id = nearest.token_id
join report on report.token_id = nearest.token_id
order by asked.place, nearest.token_id
