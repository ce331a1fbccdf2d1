-- Notes that the lake has the rows of a range.
insert into lake.bulk values ($batch, $chain_id, $stream, $from_block, $to_block, $rows)
