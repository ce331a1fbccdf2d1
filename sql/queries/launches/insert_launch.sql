-- One launch; of one that is stored already the earliest event counts.
insert into launch (
    chain_id, token, slug, emitter, creator, tx_hash, block_number, log_index
)
values (?, ?, ?, ?, ?, ?, ?, ?)
on conflict (chain_id, token, slug) do update set
    emitter = excluded.emitter,
    creator = excluded.creator,
    tx_hash = excluded.tx_hash,
    block_number = excluded.block_number,
    log_index = excluded.log_index
where (excluded.block_number, excluded.log_index) < (launch.block_number, launch.log_index)
