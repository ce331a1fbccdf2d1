-- One row per finding in the report on $token_id, by key.
select key, value
from report_finding
where token_id = $token_id
order by key
