-- One row per analysed token on $chain_id of a creator that $funder gave its first coins, but
-- $creator, last funded first.
select
    report.address, report.name, report.symbol, report.scanned_at_s,
    judgement.verdict, judgement.can_sell, judgement.liquidity_usd
from funder
cross join report on report.chain_id = funder.chain_id and report.creator_address = funder.account
left join judgement on judgement.token_id = report.token_id
where funder.chain_id = $chain_id and funder.funder = $funder and funder.account <> $creator
order by funder.block_number desc
limit $at_most
