-- Removes those of the $at_most oldest disagreements of a chain that are of blocks before $before_s. It
-- looks no further than at those: the limit is within.
delete from disagreement
where disagreement_id in (
    select disagreement_id
    from (
        select disagreement_id, block_time_s
        from disagreement
        where chain_id = $chain_id and block_number >= 0
        order by block_number
        limit $at_most
    ) known
    where block_time_s < $before_s
)
