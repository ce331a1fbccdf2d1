-- name: list_chains
-- One row per chain that a process had a node for within $kept_s seconds. native_usd: as read
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

-- name: renew_chains
-- Registers the chains $chain_ids of a process with the role $role, with the prices $prices of
-- their native coins; null: not known.
insert into fleet_chain as known (chain_id, role, renewed_at, native_usd, priced_at)
select
    mine.chain_id, $role, clock_timestamp(), mine.price,
    case when mine.price is not null then clock_timestamp() end
from unnest($chain_ids::bigint[], $prices::double precision[]) as mine (chain_id, price)
order by mine.chain_id
on conflict (chain_id, role) do update set
    renewed_at = excluded.renewed_at,
    native_usd = coalesce(excluded.native_usd, known.native_usd),
    priced_at = coalesce(excluded.priced_at, known.priced_at)
