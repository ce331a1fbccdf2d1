-- One row: what was noted when a batch came; none if it did not.
select chain_id, transfers, amount_sum, sender_sum, recipient_sum, trades, undecoded
from lake.moved
where batch = $batch
