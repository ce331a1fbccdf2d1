-- One row per noted range with a number above $above, in order.
select batch, chain_id, stream, from_block, to_block, rows
from lake.bulk
where batch > $above
order by batch
