-- One row per balance in the report on $token_id, by role and rank.
select
    role, ordinal, owner, amount_raw
from report_holder
where token_id = $token_id
order by role, ordinal
