-- Removes the findings of the report on $token_id.
delete from report_finding where token_id = $token_id
