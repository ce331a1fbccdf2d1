-- Removes those of the $at_most oldest reports of a chain that were made before $before_s. It looks no
-- further than at those: the limit is within.
delete from report_history
where (chain_id, block_number, token_id, scanned_at_s) in (
    select chain_id, block_number, token_id, scanned_at_s
    from (
        select chain_id, block_number, token_id, scanned_at_s
        from report_history
        where chain_id = $chain_id and block_number >= 0
        order by block_number
        limit $at_most
    ) known
    where scanned_at_s < $before_s
)
