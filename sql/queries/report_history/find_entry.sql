-- One row, or none: what a report of $token_id changed, if it is in the history.
select changes from report_history
where
    chain_id = $chain_id and block_number = $block_number
    and token_id = $token_id and scanned_at_s = $scanned_at_s
