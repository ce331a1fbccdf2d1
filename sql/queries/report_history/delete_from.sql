-- Removes the reports at blocks from $number on.
delete from report_history where chain_id = $chain_id and block_number >= $number
