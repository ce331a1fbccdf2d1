-- Shows the report so far of the run $run of $holder.
update analysis_run set pending = $pending
where chain_id = $chain_id and address = $address and run = $run and holder = $holder
