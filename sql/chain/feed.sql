-- name: delete_up_to
-- Deletes the lines of $chain_id up to $sequence.
delete from feed where chain_id = $chain_id and sequence <= $sequence

-- name: find_from_block
-- One row, or none: a line of $chain_id at block $number or above.
select sequence from feed where chain_id = $chain_id and block_number >= $number limit 1

-- name: find_gap
-- One row, or none: the highest sequence of a deleted line of $chain_id.
select forgotten from feed_gap where chain_id = $chain_id

-- name: find_newest
-- One row, or none: the newest line of $chain_id.
select sequence from feed where chain_id = $chain_id and sequence > 0 order by sequence desc limit 1

-- name: find_oldest
-- One row: the $at_most oldest lines of $chain_id: the first of them, the last, and the first that
-- was seen at $before_s or later. NULLs: there are none.
select
    min(sequence) as first,
    max(sequence) as last,
    min(case when seen_at_s >= $before_s then sequence end) as first_kept
from (
    select sequence, seen_at_s
    from feed
    where chain_id = $chain_id and sequence > 0
    order by sequence
    limit $at_most
) known

-- name: insert_line
-- Stores one line.
insert into feed (chain_id, kind, token, block_number, tx_hash, log_index, seen_at_s, detail)
values (?, ?, ?, ?, ?, ?, ?, ?)

-- name: list_after
-- One row per line of $chain_id above $after, oldest first; at most $at_most.
select sequence, kind, token, block_number, tx_hash, log_index, seen_at_s, detail
from feed
where chain_id = $chain_id and sequence > $after
order by sequence
limit $at_most

-- name: list_verdicts
-- One row per token of $chain_id with a verdict and a number above $after, by number; at most
-- $at_most.
select
    report.token_id, report.address as token, report.symbol, report.block_number,
    report.scanned_at_s, judgement.verdict, judgement.reasons
from report
cross join judgement on judgement.token_id = report.token_id
where report.token_id > $after and report.chain_id = $chain_id
order by report.token_id
limit $at_most

-- name: note_gap
-- Records that the lines of $chain_id up to $sequence have been deleted.
insert into feed_gap (chain_id, forgotten) values ($chain_id, $sequence)
on conflict (chain_id) do update set forgotten = excluded.forgotten
