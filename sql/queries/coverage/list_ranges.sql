-- One row per gapless range of $chain_id, by subject and height.
select chain_id, subject, from_block, to_block
from coverage
where chain_id = $chain_id
order by subject, from_block
