-- One row, or none: the highest gapless range of $chain_id and $subject.
select chain_id, subject, from_block, to_block
from coverage
where chain_id = $chain_id and subject = $subject
order by from_block desc
limit 1
