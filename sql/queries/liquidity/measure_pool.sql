-- One row: the number of the first $at_most events of the pool $pool_no, and the bytes of them.
select count(*) as events, coalesce(sum(size), 0) as size
from (
    select length(topics) + length(data) as size
    from liquidity_event
    where pool_no = $pool_no
    order by block_number, log_index
    limit $at_most
) as known
