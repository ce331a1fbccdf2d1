-- Deletes the first rows of a batch in the order of their key, :at_most of them.
delete from final_trade
where batch = :batch
and (block_number, log_index) <= (
    select block_number, log_index from (
        select block_number, log_index from final_trade
        where batch = :batch
        order by block_number, log_index
        limit :at_most
    ) as first_rows
    order by block_number desc, log_index desc
    limit 1
)
