-- Removes what report_pool holds of the token $token_id.
delete from report_pool where token_id = $token_id
