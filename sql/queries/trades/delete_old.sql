-- Removes $at_most of the final trades of $chain_id kept for prices that are more than $kept_s older
-- than the newest block that is held.
delete from recent_trade
where (pool_no, block_number, log_index) in (
    select pool_no, block_number, log_index
    from recent_trade
    where
        chain_id = $chain_id
        and time_s < (
            select time_s from block where chain_id = $chain_id order by number desc limit 1
        ) - $kept_s
    order by time_s
    limit $at_most
)
