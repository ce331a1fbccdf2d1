-- Forgets the sessions that are over at :now_s, and all of :account_id but its :most newest.
delete from session
where
    expires_at_s <= :now_s
    or digest in (
        select digest
        from (
            select digest, row_number() over (order by expires_at_s desc, digest) as place
            from session
            where account_id = :account_id
        ) as ranked
        where place > :most
    )
