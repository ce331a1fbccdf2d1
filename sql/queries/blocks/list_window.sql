-- One row per held block of $chain_id from $first to $last, lowest first.
select chain_id, number, hash, parent_hash, time_s
from block
where chain_id = $chain_id and number between $first and $last
order by number
