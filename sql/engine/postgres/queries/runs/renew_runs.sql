-- One row for each of the runs $runs that $holder still has, now for $lease_s seconds more.
update analysis_run set expires_at = clock_timestamp() + make_interval(secs => $lease_s)
where holder = $holder and run = any($runs)
returning chain_id, address, run, is_anew, is_awaited, deaths > 0 as is_taken_over
