-- Removes what report_clock_limit holds of the token $token_id.
delete from report_clock_limit where token_id = $token_id
