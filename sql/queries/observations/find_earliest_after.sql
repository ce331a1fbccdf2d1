-- One row: the time of the first block above $above with an observation of the token $token_id; NULL if
-- there is none.
select min(block_time_s) as time_s
from observation
where token_id = $token_id and block_number > $above
