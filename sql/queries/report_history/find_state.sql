-- One row, or none: what was last written down of $token_id.
select state from report_state where token_id = $token_id
