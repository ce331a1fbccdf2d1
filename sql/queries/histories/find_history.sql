-- One row, or none: how much of the past of the token $token_id has been fetched.
select is_whole, requests, logs from history where token_id = $token_id
