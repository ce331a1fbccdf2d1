-- One row for each token of $chain_id, at most $at_most, whose analysis $holder begins with this:
-- those asked for longest ago that nobody judges, if $older_s seconds ago at least.
update analysis_run as known set
    run = nextval('analysis_run_number'),
    holder = $holder,
    expires_at = clock_timestamp() + make_interval(secs => $lease_s),
    is_anew = known.wanted = 2 or (known.holder is not null and known.is_awaited and known.is_anew),
    is_awaited = true,
    deaths = case when known.holder is null then 0 else known.deaths + 1 end,
    wanted = 0,
    asked_at = null,
    pending = null
from (
    select chain_id, address from analysis_run
    where (wanted > 0 or is_awaited) and chain_id = $chain_id
        and (holder is null or expires_at < clock_timestamp())
        and coalesce(asked_at, expires_at) <= clock_timestamp() - make_interval(secs => $older_s)
    order by coalesce(asked_at, expires_at)
    limit $at_most
    for update skip locked
) as due
where known.chain_id = due.chain_id and known.address = due.address
returning known.chain_id, known.address, known.run, known.is_anew, known.is_awaited, known.deaths > 0 as is_taken_over
