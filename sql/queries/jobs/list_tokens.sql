-- One row per token of $chain_id that the run $run_id has still to do; $at_most of them.
select chain_id, address
from job_token
where run_id = $run_id and chain_id = $chain_id
order by address
limit $at_most
