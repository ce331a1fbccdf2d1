-- Deletes what ended long ago: a failure after $failed_s seconds, anything else after $settled_s.
delete from analysis_run
where holder is null and wanted = 0
    and ended_at < clock_timestamp() - make_interval(secs => $settled_s)
    and (outcome in ('settled', 'refused')
        or ended_at < clock_timestamp() - make_interval(secs => $failed_s))
