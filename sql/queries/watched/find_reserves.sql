-- One row, or none: what pools of the token $token_id held at $report_block.
select reserves from watched_reserves where token_id = $token_id and report_block = $report_block
