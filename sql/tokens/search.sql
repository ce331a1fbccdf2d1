-- name: delete_entry
-- Deletes the search entry of the token $token_id.
delete from search_entry where token_id = $token_id

-- name: delete_term
-- Deletes one term of one token.
delete from search_term where chain_id = ? and tier = ? and term = ? and token_id = ?

-- name: find_by_address
-- One row, or none: the token $address of $chain_id, if it has a report.
select
    report.chain_id, report.address, report.name, report.symbol, report.block_hash,
    report.scanned_at_s, search_entry.usd
from token
join report on report.token_id = token.token_id
join search_entry on search_entry.token_id = token.token_id
where token.chain_id = $chain_id and token.address = $address

-- name: find_entry
-- One row, or none: the search entry of the token $token_id.
select chain_id, usd, tier, terms from search_entry where token_id = $token_id

-- name: insert_term
-- Stores one term of one token.
insert into search_term (chain_id, tier, term, token_id) values (?, ?, ?, ?)
on conflict do nothing

-- name: list_namesakes
-- One row per token of $tier with one of the terms $terms, a JSON array of [chain id, term]: the
-- first $at_most tokens of each term.
select
    report.chain_id, report.address, report.name, report.symbol, report.block_hash,
    report.scanned_at_s, search_entry.usd
from json_each($terms)
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

-- name: list_namesakes postgres
-- As for SQLite.
select
    report.chain_id, report.address, report.name, report.symbol, report.block_hash,
    report.scanned_at_s, search_entry.usd
from jsonb_array_elements($terms::jsonb) with ordinality as requested (name, place)
cross join lateral (
    select search_term.token_id
    from search_term
    where
        search_term.chain_id = (requested.name ->> 0)::bigint
        and search_term.tier = $tier
        and search_term.term = requested.name ->> 1
    order by search_term.token_id
    limit $at_most
) as nearest
join search_entry on search_entry.token_id = nearest.token_id
join report on report.token_id = nearest.token_id
order by requested.place, nearest.token_id

-- name: list_newest
-- One row per token with a report, last tracked first.
select
    report.chain_id, report.address, report.name, report.symbol, report.block_hash,
    report.scanned_at_s, search_entry.usd
from search_entry
join report on report.token_id = search_entry.token_id
where search_entry.token_id > 0
order by search_entry.token_id desc
limit $at_most

-- name: list_richest
-- One row per token whose pools hold more than $above_usd, the most first.
select
    report.chain_id, report.address, report.name, report.symbol, report.block_hash,
    report.scanned_at_s, search_entry.usd
from search_entry
join report on report.token_id = search_entry.token_id
where search_entry.usd > $above_usd
order by search_entry.usd desc
limit $at_most

-- name: list_terms
-- One row per term of $tier on $chain_id from $low to below $high: its token.
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

-- name: list_unentered
-- One row per report of the tokens after $done up to $until: the data of its search entry, and
-- whether it has one.
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

-- name: put_entry
-- Sets the search entry of the token $token_id.
insert into search_entry (token_id, chain_id, usd, tier, terms)
values ($token_id, $chain_id, $usd, $tier, $terms)
on conflict (token_id) do update set
    chain_id = excluded.chain_id,
    usd = excluded.usd,
    tier = excluded.tier,
    terms = excluded.terms
