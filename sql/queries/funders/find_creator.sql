-- One row, or none: the creator that the report on the token $token_id names.
select chain_id, address, creator_address as creator
from report
where token_id = $token_id and creator_address is not null
