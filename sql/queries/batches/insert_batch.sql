-- One row: a new batch of $chain_id that takes final rows.
insert into batch (chain_id) values ($chain_id) returning batch
