-- One row: $from_block to $to_block of the subject, joined with every stored range that overlaps
-- it or lies right beside it.
select
    $chain_id::integer as chain_id,
    $subject as subject,
    least($from_block, min(from_block)) as from_block,
    greatest($to_block, max(to_block)) as to_block
from coverage
where
    chain_id = $chain_id and subject = $subject
    and from_block <= $to_block + 1 and to_block >= $from_block - 1
