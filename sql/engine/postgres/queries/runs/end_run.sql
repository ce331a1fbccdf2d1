-- One row if the run $run was still that of $holder, and has ended with this.
update analysis_run set
    holder = null,
    expires_at = null,
    is_awaited = false,
    deaths = 0,
    pending = null,
    ended_run = run,
    ended_anew = is_anew,
    ended_at = clock_timestamp(),
    outcome = $outcome,
    code = $code,
    service = $service,
    reason = $reason
where chain_id = $chain_id and address = $address and run = $run and holder = $holder
returning run
