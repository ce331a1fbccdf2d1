-- Removes what pools held of tokens that nobody watches any more.
delete from watched_reserves
where token_id in (
    select known.token_id
    from watched_reserves known
    where not exists (select 1 from watch_token where watch_token.token_id = known.token_id)
)
