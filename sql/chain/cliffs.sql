-- name: delete_from
-- Deletes the cliffs of $chain_id from block $number on.
delete from liquidity_cliff where chain_id = $chain_id and block_number >= $number

-- name: delete_old
-- Deletes $at_most of the oldest cliffs of $chain_id before $before_s.
delete from liquidity_cliff
where (chain_id, block_number, log_index) in (
    select chain_id, block_number, log_index from liquidity_cliff
    where chain_id = $chain_id and time_s < $before_s
    order by time_s
    limit $at_most
)

-- name: find_newest
-- One row, or none: the newest cliff of the token at $address up to block $up_to.
select pool, source, block_number, log_index, time_s, tx_hash, left_pct
from liquidity_cliff
where chain_id = $chain_id and token = $address and block_number <= $up_to
order by block_number desc, log_index desc
limit 1

-- name: insert_cliff
-- Stores one cliff unless it is stored.
insert into liquidity_cliff (
    chain_id, block_number, log_index, token, pool, source, time_s, tx_hash, left_pct
)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict do nothing
