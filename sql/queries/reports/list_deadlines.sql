-- One row per deadline in the report on $token_id, as written.
select
    source, slot, clock, value
from report_deadline
where token_id = $token_id
order by position
