-- Removes what report_deadline holds of the token $token_id.
delete from report_deadline where token_id = $token_id
