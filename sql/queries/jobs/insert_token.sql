-- A token that a run has to do; once, however often it was selected.
insert into job_token (run_id, chain_id, address) values (?, ?, ?)
on conflict do nothing
