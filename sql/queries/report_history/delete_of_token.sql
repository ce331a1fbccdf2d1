-- Removes all reports of $token_id from the history.
delete from report_history where token_id = $token_id
