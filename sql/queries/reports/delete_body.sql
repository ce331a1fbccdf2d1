-- Removes the packed report on $token_id.
delete from report_body where token_id = $token_id
