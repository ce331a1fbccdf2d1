-- Removes what report_evidence holds of the token $token_id.
delete from report_evidence where token_id = $token_id
