-- One transfer that is not stored yet.
insert or ignore into transfer (
    chain_id, block_number, log_index, token_id, sender, recipient, amount, time_s
)
values (?, ?, ?, ?, ?, ?, ?, ?)
