-- Gives back all runs of $holder, which ends; whoever waits for one is served by another process.
update analysis_run set
    wanted = case when is_awaited then greatest(wanted, 1 + is_anew::int) else wanted end,
    asked_at = case when is_awaited then coalesce(asked_at, clock_timestamp()) else asked_at end,
    holder = null,
    expires_at = null,
    is_awaited = false,
    deaths = 0,
    pending = null
where holder = $holder
