-- One row for each token whose analysis has ended $at_most processes in a row, and is not begun again
-- until it is asked for again.
update analysis_run as known set
    run = next.run,
    holder = null,
    expires_at = null,
    is_awaited = false,
    deaths = 0,
    wanted = 0,
    asked_at = null,
    pending = null,
    ended_run = next.run,
    ended_anew = true,
    ended_at = clock_timestamp(),
    outcome = 'failed',
    code = null,
    service = null,
    reason = 'its analysis ended every process that tried it'
from (
    select chain_id, address, nextval('analysis_run_number') as run
    from (
        select chain_id, address from analysis_run
        where (wanted > 0 or is_awaited) and expires_at < clock_timestamp()
            and deaths >= $at_most - 1
        for update skip locked
    ) as dead
) as next
where known.chain_id = next.chain_id and known.address = next.address
returning known.chain_id, known.address, known.run
