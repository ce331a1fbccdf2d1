-- Removes a token that a run has done.
delete from job_token where run_id = ? and chain_id = ? and address = ?
