-- One row, or none: the report on the token $token_id, if it names no creator.
select address, block_hash
from report
where token_id = $token_id and creator_address is null
