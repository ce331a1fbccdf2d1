-- Forgets what was written down of $token_id.
delete from report_state where token_id = $token_id
