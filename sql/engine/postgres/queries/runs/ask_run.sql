-- One row: the number from which on a run of the token $address of $chain_id answers, when a report
-- ($want = 1) or one that is anew (2) is asked for. None: $at_most tokens are waiting already.
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
