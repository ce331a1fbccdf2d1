-- Removes the tokens that the run $run_id has still to do; $at_most of them.
delete from job_token
where run_id = $run_id and (chain_id, address) in (
    select chain_id, address from job_token where run_id = $run_id limit $at_most
)
