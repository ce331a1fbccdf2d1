-- One row per report at a block from $number on, the newest first.
select token_id, changes
from report_history
where chain_id = $chain_id and block_number >= $number
order by block_number desc, token_id desc, scanned_at_s desc
