-- One row, or none: the report so far on the token $address of $chain_id, from a run $from_run or later.
select pending from analysis_run
where chain_id = $chain_id and address = $address and run >= $from_run and pending is not null
