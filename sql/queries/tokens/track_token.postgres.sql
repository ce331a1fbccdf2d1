-- As for SQLite. A token that is tracked already takes no new id, and is only written when it
-- changes: common tokens are seen with every pool.
with known as (
    update token set
        first_seen_block = least(first_seen_block, ?4),
        tracked_because = case
            when ?3 = 'pool' or tracked_because = 'request' then ?3 else tracked_because
        end,
        requested_at_block = coalesce(requested_at_block, ?5)
    where
        chain_id = ?1 and address = ?2
        and (
            first_seen_block > ?4
            or (tracked_because <> ?3 and (?3 = 'pool' or tracked_because = 'request'))
            or (requested_at_block is null and ?5::bigint is not null)
        )
)
insert into token (chain_id, address, tracked_because, first_seen_block, requested_at_block)
select ?1, ?2, ?3, ?4, ?5
where not exists (select 1 from token where chain_id = ?1 and address = ?2)
