-- Forgets the sessions that are over at :now_s, and all of :account_id but its :most newest.
delete from session
where
    expires_at_s <= :now_s
    or digest in (
        select digest
        from session
        where account_id = :account_id
        order by expires_at_s desc, digest
        limit -1 offset :most
    )
