-- One row, or none: the number of the shape with $digest on $chain_id.
select shape_id from code_shape
where chain_id = $chain_id and version = $version and digest = $digest
