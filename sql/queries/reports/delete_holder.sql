-- Removes the holders of the report on $token_id.
delete from report_holder where token_id = $token_id
