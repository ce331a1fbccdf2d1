-- One row per clock limit in the report on $token_id, as written.
select
    source, slot, value, compared_with
from report_clock_limit
where token_id = $token_id
order by position
