-- Removes some places of $chain_id of shapes of versions before $version.
delete from shape_band
where (chain_id, version, band, place) in (
    select chain_id, version, band, place from shape_band
    where chain_id = $chain_id and version < $version
    limit $at_most
)
