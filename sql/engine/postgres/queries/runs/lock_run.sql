-- One row if $holder still has the run $run of the token $address of $chain_id, and keeps it until the
-- transaction ends.
select run from analysis_run
where chain_id = $chain_id and address = $address and run = $run and holder = $holder
for share
