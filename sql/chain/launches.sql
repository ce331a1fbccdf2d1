-- name: delete_from
-- Deletes the launches of $chain_id from $number on.
delete from launch where chain_id = $chain_id and block_number >= $number

-- name: insert_launch
-- Stores one launch; of a stored one the earliest event counts.
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

-- name: list_from
-- One row per token of $chain_id that was launched at or above $number: its address.
select token from launch where chain_id = $chain_id and block_number >= $number

-- name: list_of_token
-- One row per platform that announced the token $token on $chain_id, in order of the events.
select chain_id, token, slug, emitter, creator, tx_hash, block_number, log_index
from launch
where chain_id = $chain_id and token = $token
order by block_number, log_index, slug
