-- One row, or none: whether the report on $token_id resolved the token's pools.
select pools_resolved
from report
where token_id = $token_id
order by token_id
limit 1
