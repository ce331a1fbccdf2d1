-- One row per analysed token whose code has the shape $shape_id, but $token_id, last tracked first.
select
    report.address, report.name, report.symbol, report.scanned_at_s,
    judgement.verdict, judgement.can_sell, judgement.liquidity_usd
from token_shape
join report on report.token_id = token_shape.token_id
left join judgement on judgement.token_id = token_shape.token_id
where token_shape.shape_id = $shape_id and token_shape.token_id <> $token_id
order by token_shape.token_id desc
limit $at_most
