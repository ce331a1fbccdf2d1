-- One row for each of the chains $chain_ids: tokens that wait to be judged because somebody asked, for
-- how many seconds the first of them has, and tokens that are being judged, in the whole fleet.
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
