-- One row: watches of the key $key_id, and the tokens in them.
select
    (select count(*) from watch where key_id = $key_id) as watches,
    (
        select count(*) from watch cross join watch_token on watch_token.watch_id = watch.id
        where watch.key_id = $key_id
    ) as tokens
