-- One row: transfers to be written, and between which blocks; null where there are none.
select count(*) as rows, min(block_number) as first_block, max(block_number) as last_block
from incoming_transfer
