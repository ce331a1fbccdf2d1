-- The watch $watch_id does not have the token $token_id any more.
delete from watch_token where watch_id = $watch_id and token_id = $token_id
