-- Tells who holds watched tokens in memory that there is another report of the token $token_id, if it is
-- watched.
update watch_revision set revision = revision + 1
where id = 1 and exists (select 1 from watch_token where token_id = $token_id)
