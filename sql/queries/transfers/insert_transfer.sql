-- One transfer that is not stored yet.
insert into transfer (
    chain_id, block_number, log_index, token_id, sender, recipient, amount, time_s
)
values (?, ?, ?, ?, ?, ?, ?, ?)
on conflict do nothing
