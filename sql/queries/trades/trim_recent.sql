-- Removes all but the newest $kept of the final trades of the pool $pool_no that are kept for prices.
delete from recent_trade
where pool_no = $pool_no and (block_number, log_index) <= (
    select block_number, log_index
    from recent_trade
    where pool_no = $pool_no
    order by block_number desc, log_index desc
    limit 1 offset $kept
)
