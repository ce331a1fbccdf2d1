-- Removes what report_body holds of the token $token_id.
delete from report_body where token_id = $token_id
