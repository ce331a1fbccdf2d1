-- One row, or none: the gate's last no for the token $address of $chain_id.
select refusal.code, refusal.reason, refusal.refused_at_s
from token
join refusal on refusal.token_id = token.token_id
where token.chain_id = $chain_id and token.address = $address
