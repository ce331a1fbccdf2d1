-- One row per held block of $chain_id, lowest first.
select chain_id, number, hash, parent_hash, time_s
from block
where chain_id = $chain_id
order by number
