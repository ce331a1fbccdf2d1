-- The lowest held block of $chain_id from $number on.
select chain_id, number, hash, parent_hash, time_s
from block
where chain_id = $chain_id and number >= $number
order by number
limit 1
