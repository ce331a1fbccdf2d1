-- One row: the number of a new shape of $chain_id.
insert into code_shape (chain_id, version, digest, sketch)
values ($chain_id, $version, $digest, $sketch)
returning shape_id
