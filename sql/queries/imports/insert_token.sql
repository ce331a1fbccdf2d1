-- One token, with the number that it had.
insert into token (
    token_id, chain_id, address, tracked_because, first_seen_block, transfers_from_block,
    requested_at_block
)
values (?, ?, ?, ?, ?, ?, ?)
on conflict do nothing
