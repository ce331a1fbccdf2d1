-- name: delete_from
-- Deletes the ranges of $chain_id that begin at or above $number.
delete from coverage where chain_id = $chain_id and from_block >= $number

-- name: delete_range
-- Deletes the range of $chain_id and $subject that begins at $from_block.
delete from coverage
where chain_id = $chain_id and subject = $subject and from_block = $from_block

-- name: find_newest_range
-- One row, or none: the highest gapless range of $chain_id and $subject.
select chain_id, subject, from_block, to_block
from coverage
where chain_id = $chain_id and subject = $subject
order by from_block desc
limit 1

-- name: list_ranges
-- One row per gapless range of $chain_id, by subject and height.
select chain_id, subject, from_block, to_block
from coverage
where chain_id = $chain_id
order by subject, from_block

-- name: trim_from
-- Ends the ranges of $chain_id that reach $number right below it.
update coverage set to_block = $number - 1 where chain_id = $chain_id and to_block >= $number
