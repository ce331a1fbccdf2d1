-- Deletes a closed batch that has no rows any more.
delete from batch
where batch = :batch and is_closed = 1
and not exists (select 1 from final_transfer where batch = :batch)
and not exists (select 1 from final_trade where batch = :batch)
and not exists (select 1 from final_undecoded where batch = :batch)
