-- One final transfer, for the lake.
insert into final_transfer (
    batch, block_number, log_index, token_id, sender, recipient, amount, time_s
)
values (?, ?, ?, ?, ?, ?, ?, ?)
