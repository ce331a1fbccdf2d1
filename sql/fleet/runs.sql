-- name: ask_run
-- One row: the lowest number of a run of the token $address of $chain_id that serves a request
-- for a report ($want = 1) or a fresh one (2). None: $at_most tokens are waiting.
insert into analysis_run as known (chain_id, address, wanted, asked_at)
select $chain_id, $address, $want, clock_timestamp()
where (
    select count(*) from (select 1 from analysis_run where wanted > 0 limit $at_most) as waiting
) < $at_most or exists (
    select 1 from analysis_run
    where chain_id = $chain_id and address = $address and (wanted > 0 or holder is not null)
)
on conflict (chain_id, address) do update set
    is_awaited = known.holder is not null and (known.is_awaited or known.is_anew or $want = 1),
    wanted = case
        when known.expires_at > now() and (known.is_anew or $want = 1) then known.wanted
        else greatest(known.wanted, $want)
    end,
    asked_at = case
        when known.expires_at > now() and (known.is_anew or $want = 1) then known.asked_at
        else coalesce(known.asked_at, clock_timestamp())
    end
returning
    case when expires_at > now() and (is_anew or $want = 1) then run else run + 1 end as from_run

-- name: begin_run
-- One row: the run of the token $address of $chain_id that $holder begins, which also serves
-- earlier requests. None: another process analyses the token.
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

-- name: count_runs
-- One row per chain of $chain_ids: the number of requested tokens that no process analyses, the
-- longest wait in seconds, and the number of tokens being analysed in the whole fleet.
select
    asked.chain_id,
    count(*) filter (where open.is_waiting) as waiting,
    coalesce(max(open.waited_s) filter (where open.is_waiting), 0.0) as longest_wait_s,
    count(*) filter (where open.is_running) as running
from unnest($chain_ids::bigint[]) as asked (chain_id)
left join (
    select
        chain_id,
        (wanted > 0 or is_awaited) and (holder is null or expires_at < clock_timestamp()) as is_waiting,
        coalesce(expires_at >= clock_timestamp(), false) as is_running,
        extract(
            epoch from clock_timestamp() - coalesce(asked_at, expires_at)
        )::double precision as waited_s
    from analysis_run
    where wanted > 0 or is_awaited or holder is not null
) as open on open.chain_id = asked.chain_id
group by asked.chain_id
order by asked.chain_id

-- name: delete_ended
-- Deletes old ended runs: failures after $failed_s seconds, others after $settled_s.
delete from analysis_run
where holder is null and wanted = 0
    and ended_at < clock_timestamp() - make_interval(secs => $settled_s)
    and (outcome in ('settled', 'refused')
        or ended_at < clock_timestamp() - make_interval(secs => $failed_s))

-- name: end_run
-- One row if the run $run was still that of $holder, and has ended now.
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

-- name: find_pending
-- One row, or none: the partial report on the token $address of $chain_id, from a run $from_run
-- or later.
select pending from analysis_run
where chain_id = $chain_id and address = $address and run >= $from_run and pending is not null

-- name: give_back
-- Releases all runs of $holder, which ends; other processes serve the waiting callers.
update analysis_run set
    wanted = case when is_awaited then greatest(wanted, 1 + is_anew::int) else wanted end,
    asked_at = case when is_awaited then coalesce(asked_at, clock_timestamp()) else asked_at end,
    holder = null,
    expires_at = null,
    is_awaited = false,
    deaths = 0,
    pending = null
where holder = $holder

-- name: give_up
-- One row per token whose analysis has lost $at_most processes in a row, and is not begun again
-- without a new request.
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

-- name: list_states
-- One row per token of $addresses and $chain_ids that was ever requested: its current process,
-- and the end of its last run.
select
    known.chain_id, known.address, known.run, known.is_anew,
    coalesce(known.expires_at > clock_timestamp(), false) as is_running,
    known.wanted > 0 as is_wanted,
    known.ended_run, known.ended_anew, known.outcome, known.code, known.service, known.reason,
    extract(epoch from clock_timestamp() - known.ended_at)::double precision as ended_s
from unnest($chain_ids::bigint[], $addresses::bytea[]) as asked (chain_id, address)
join analysis_run as known on known.chain_id = asked.chain_id and known.address = asked.address

-- name: lock_run
-- One row if $holder still has the run $run of the token $address of $chain_id, locked until the
-- end of the transaction.
select run from analysis_run
where chain_id = $chain_id and address = $address and run = $run and holder = $holder
for share

-- name: renew_runs
-- One row per run of $runs that $holder still has, renewed for $lease_s seconds.
update analysis_run set expires_at = clock_timestamp() + make_interval(secs => $lease_s)
where holder = $holder and run = any($runs)
returning chain_id, address, run, is_anew, is_awaited, deaths > 0 as is_taken_over

-- name: show_pending
-- Stores the partial report of the run $run of $holder.
update analysis_run set pending = $pending
where chain_id = $chain_id and address = $address and run = $run and holder = $holder

-- name: take_asked
-- One row per token of $chain_id whose analysis $holder begins: the longest waiting ones that no
-- process analyses and that were requested at least $older_s seconds ago; at most $at_most.
-- Materialized: a plan that runs the inner select once for each row would exceed the limit.
with due as materialized (
    select chain_id, address from analysis_run
    where (wanted > 0 or is_awaited) and chain_id = $chain_id
        and (holder is null or expires_at < clock_timestamp())
        and coalesce(asked_at, expires_at) <= clock_timestamp() - make_interval(secs => $older_s)
    order by coalesce(asked_at, expires_at)
    limit $at_most
    for update skip locked
)
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
from due
where known.chain_id = due.chain_id and known.address = due.address
returning known.chain_id, known.address, known.run, known.is_anew, known.is_awaited, known.deaths > 0 as is_taken_over
