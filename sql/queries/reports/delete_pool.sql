-- Removes the pools of the report on $token_id.
delete from report_pool where token_id = $token_id
