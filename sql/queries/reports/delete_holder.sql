-- Removes what report_holder holds of the token $token_id.
delete from report_holder where token_id = $token_id
