-- One row per transfer of a batch: its numbers, as bytes.
select amount, sender, recipient from final_transfer where batch = :batch
