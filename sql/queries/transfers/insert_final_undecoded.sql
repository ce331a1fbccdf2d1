-- One final undecoded log, for the lake, unless it waits there already: a range may be
-- filled twice.
insert into final_undecoded (
    batch, block_number, log_index, address, topic0, topic_count, data
)
values (?, ?, ?, ?, ?, ?, ?)
on conflict do nothing
