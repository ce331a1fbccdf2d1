-- One row for each event of the pool $pool_no up to block $last, in chain order.
select pool.pool as emitter, event.block_number, event.topics, event.data
from liquidity_event event
join pool on pool.pool_no = event.pool_no
where event.pool_no = $pool_no and event.block_number <= $last
order by event.block_number, event.log_index
