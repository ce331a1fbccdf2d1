-- Removes the trades of $chain_id that are more than $kept_s older than the newest block that is
-- held.
delete from trade
where
    chain_id = $chain_id
    and time_s < (select max(block.time_s) from block where block.chain_id = $chain_id) - $kept_s
