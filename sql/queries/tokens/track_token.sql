-- One token, by chain, address, reason, block and the block of a request: tracked from now on. Of one
-- that is tracked already the earliest sight stays, and of the reasons the strongest: pool, launch,
-- request.
insert into token (
    chain_id, address, tracked_because, first_seen_block, requested_at_block
)
values (?, ?, ?, ?, ?)
on conflict (chain_id, address) do update set
    first_seen_block = case
        when excluded.first_seen_block < token.first_seen_block
        then excluded.first_seen_block
        else token.first_seen_block
    end,
    tracked_because = case
        when excluded.tracked_because = 'pool' or token.tracked_because = 'request'
        then excluded.tracked_because
        else token.tracked_because
    end,
    requested_at_block = coalesce(token.requested_at_block, excluded.requested_at_block)
