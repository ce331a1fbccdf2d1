-- name: find_token
-- One row, or none: the keys of the token $address of $chain_id for related tokens, if it has a
-- report.
select report.token_id, report.symbol, report.creator_address as creator
from token
join report on report.token_id = token.token_id
where token.chain_id = $chain_id and token.address = $address

-- name: list_by_creator
-- One row per analysed token of $creator on $chain_id except $token_id, last tracked first.
select
    report.address, report.name, report.symbol, report.scanned_at_s,
    judgement.verdict, judgement.can_sell, judgement.liquidity_usd
from report
left join judgement on judgement.token_id = report.token_id
where report.chain_id = $chain_id and report.creator_address = $creator
    and report.token_id <> $token_id
order by report.token_id desc
limit $at_most

-- name: list_by_funder
-- One row per analysed token on $chain_id of another creator than $creator that $funder funded,
-- last funded first.
select
    report.address, report.name, report.symbol, report.scanned_at_s,
    judgement.verdict, judgement.can_sell, judgement.liquidity_usd
from funder
cross join report on report.chain_id = funder.chain_id and report.creator_address = funder.account
left join judgement on judgement.token_id = report.token_id
where funder.chain_id = $chain_id and funder.funder = $funder and funder.account <> $creator
order by funder.block_number desc
limit $at_most

-- name: list_by_shape
-- One row per analysed token whose code has the shape $shape_id except $token_id, last tracked
-- first.
select
    report.address, report.name, report.symbol, report.scanned_at_s,
    judgement.verdict, judgement.can_sell, judgement.liquidity_usd
from token_shape
join report on report.token_id = token_shape.token_id
left join judgement on judgement.token_id = token_shape.token_id
where token_shape.shape_id = $shape_id and token_shape.token_id <> $token_id
order by token_shape.token_id desc
limit $at_most

-- name: list_by_term
-- One row per analysed token of $tier on $chain_id with the search term $term, except $token_id.
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
