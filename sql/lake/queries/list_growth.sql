-- One row per chain of which rows were moved since $since_s: how many.
select chain_id, sum(transfers + trades + undecoded)::bigint as rows
from lake.moved
where moved_at_s >= $since_s
group by chain_id
order by chain_id
