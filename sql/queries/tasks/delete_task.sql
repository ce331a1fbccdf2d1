-- Removes the task $kind of the token $token_id.
delete from task where kind = $kind and token_id = $token_id
