-- One row, or none: when the token $address of $chain_id was analysed last, or refused.
select report.scanned_at_s, report.is_settled, refusal.refused_at_s
from token
left join report on report.token_id = token.token_id
left join refusal on refusal.token_id = token.token_id
where token.chain_id = $chain_id and token.address = $address
