-- One row for each of the chains $chain_ids: the number of its newest change, 0 if there is none.
select asked.chain_id, coalesce(max(known.change), 0) as change
from unnest($chain_ids::bigint[]) as asked (chain_id)
left join report_change as known on known.chain_id = asked.chain_id
group by asked.chain_id
