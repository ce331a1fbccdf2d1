-- As for SQLite.
select code_shape.shape_id, code_shape.sketch
from code_shape
where code_shape.shape_id <> $shape_id and code_shape.shape_id in (
    select shape_band.shape_id
    from shape_band
    where
        shape_band.chain_id = $chain_id
        and shape_band.version = $version
        and shape_band.band = any (
            array(select value::bigint from jsonb_array_elements_text($bands::jsonb) as value)
        )
)
