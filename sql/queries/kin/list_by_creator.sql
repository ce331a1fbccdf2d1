-- One row per analysed token of $creator on $chain_id but $token_id, last tracked first.
select
    report.address, report.name, report.symbol, report.scanned_at_s,
    judgement.verdict, judgement.can_sell, judgement.liquidity_usd
from report
left join judgement on judgement.token_id = report.token_id
where report.chain_id = $chain_id and report.creator_address = $creator
    and report.token_id <> $token_id
order by report.token_id desc
limit $at_most
