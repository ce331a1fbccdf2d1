-- One row per shape of $chain_id that has one of the keys $bands, a JSON array, but $shape_id.
select code_shape.shape_id, code_shape.sketch
from code_shape
where code_shape.shape_id <> $shape_id and code_shape.shape_id in (
    select shape_band.shape_id
    from json_each($bands)
    cross join shape_band on shape_band.chain_id = $chain_id and shape_band.version = $version
        and shape_band.band = json_each.value
)
