-- One row, or none: the newest disagreement of the token $token_id that a later report settled.
select block_time_s, explanation
from disagreement
where token_id = $token_id and settled_block is not null
order by block_number desc
limit 1
