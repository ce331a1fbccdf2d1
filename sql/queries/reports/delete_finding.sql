-- Removes what report_finding holds of the token $token_id.
delete from report_finding where token_id = $token_id
