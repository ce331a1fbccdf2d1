-- One row: the newest block with a launch that the lake has of a chain, -1: none; and how many.
select coalesce(max(block_number), -1) as block_number, count(*) as launches
from lake.launch
where chain_id = $chain_id
