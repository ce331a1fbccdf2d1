-- Removes $at_most of the events of $chain_id in blocks below $below, the oldest first.
delete from liquidity_event
where chain_id = $chain_id and (block_number, log_index) in (
    select block_number, log_index
    from liquidity_event
    where chain_id = $chain_id and block_number < $below
    order by block_number, log_index
    limit $at_most
)
