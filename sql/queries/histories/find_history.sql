-- One row, or none: how much of the past of the token numbered $token_id has been fetched.
select is_whole, requests, logs
from history
where token_id = $token_id
order by token_id
limit 1
