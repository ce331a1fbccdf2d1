-- One row, or none: the gate's last no for $token_id.
select
    code, reason, refused_at_s
from refusal
where token_id = $token_id
order by token_id
limit 1
