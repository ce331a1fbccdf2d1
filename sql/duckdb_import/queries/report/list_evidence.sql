-- One row per piece of evidence in the report on $token_id, as written.
select
    key, body
from report_evidence
where token_id = $token_id
order by position
