-- One row, or none: when the transfer check of the report on $token_id found no wallet to check with.
select transfer_checked_at_s as checked_at_s
from report
where token_id = $token_id and transfer_success is null and transfer_checked_at_s is not null
