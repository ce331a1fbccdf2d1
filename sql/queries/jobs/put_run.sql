-- Everything of the run $run_id that changes.
update job_run set
    ended_at_s = $ended_at_s,
    outcome = $outcome,
    is_held = $is_held,
    cuts = $cuts,
    is_selected = $is_selected,
    tokens = $tokens,
    done = $done,
    young = $young,
    refused = $refused,
    failed = $failed,
    rows_exported = $rows_exported,
    "overlaps" = $overlaps,
    error = $error
where run_id = $run_id
