-- Removes some shapes of $chain_id of versions before $version.
delete from code_shape
where shape_id in (
    select shape_id from code_shape
    where chain_id = $chain_id and version < $version
    limit $at_most
)
