-- name: list_newest
-- One row per chain of $chain_ids: the number of its newest change, 0 if there is none.
select asked.chain_id, coalesce(max(known.change), 0) as change
from unnest($chain_ids::bigint[]) as asked (chain_id)
left join report_change as known on known.chain_id = asked.chain_id
group by asked.chain_id

-- name: list_since
-- One row per token of the chains $chain_ids whose report has changed since the chain's change
-- in $changes, oldest change first; at most $at_most.
select known.chain_id, known.address, known.change
from unnest($chain_ids::bigint[], $changes::bigint[]) as seen (chain_id, change)
join report_change as known on known.chain_id = seen.chain_id and known.change > seen.change
order by known.change
limit $at_most
