-- Removes what report_static holds of the token $token_id.
delete from report_static where token_id = $token_id
