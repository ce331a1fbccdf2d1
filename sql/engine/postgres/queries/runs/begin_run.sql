-- One row: the run of the token $address of $chain_id that $holder begins with this, which also
-- serves those who have asked for it. None: another process judges the token.
insert into analysis_run as known (chain_id, address, run, holder, expires_at, is_anew)
values (
    $chain_id, $address, nextval('analysis_run_number'), $holder,
    clock_timestamp() + make_interval(secs => $lease_s), $is_anew
)
on conflict (chain_id, address) do update set
    run = excluded.run,
    holder = excluded.holder,
    expires_at = excluded.expires_at,
    is_anew = excluded.is_anew or known.wanted = 2
        or (known.holder is not null and known.is_awaited and known.is_anew),
    is_awaited = known.is_awaited or known.wanted > 0,
    deaths = case when known.holder is null then 0 else known.deaths + 1 end,
    wanted = 0,
    asked_at = null,
    pending = null
where known.holder is null or known.expires_at < clock_timestamp()
returning chain_id, address, run, is_anew, is_awaited, deaths > 0 as is_taken_over
