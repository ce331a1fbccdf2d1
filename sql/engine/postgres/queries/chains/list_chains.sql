-- One row for each chain that a process has had a node of within $kept_s seconds. native_usd: as read
-- within $priced_s seconds.
select
    chain_id,
    max(native_usd) filter (
        where priced_at > clock_timestamp() - make_interval(secs => $priced_s)
    ) as native_usd
from fleet_chain
group by chain_id
having max(renewed_at) > clock_timestamp() - make_interval(secs => $kept_s)
order by chain_id
