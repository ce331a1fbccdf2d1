-- name: delete_old
-- Deletes some shapes of $chain_id of versions before $version.
delete from code_shape
where shape_id in (
    select shape_id from code_shape
    where chain_id = $chain_id and version < $version
    limit $at_most
)

-- name: delete_old_bands
-- Deletes some places of shapes of $chain_id of versions before $version.
delete from shape_band
where (chain_id, version, band, place) in (
    select chain_id, version, band, place from shape_band
    where chain_id = $chain_id and version < $version
    limit $at_most
)

-- name: delete_token
-- Deletes the link of the token $token_id to its shape.
delete from token_shape where token_id = $token_id

-- name: find_id
-- One row, or none: the number of the shape with $digest on $chain_id.
select shape_id from code_shape
where chain_id = $chain_id and version = $version and digest = $digest

-- name: find_of_token
-- One row, or none: the shape of the code of the token $token_id, if it is of $version.
select code_shape.shape_id, code_shape.digest, code_shape.sketch
from token_shape
join code_shape on code_shape.shape_id = token_shape.shape_id
where token_shape.token_id = $token_id and code_shape.version = $version

-- name: insert_shape
-- One row: the number of a new shape of $chain_id.
insert into code_shape (chain_id, version, digest, sketch)
values ($chain_id, $version, $digest, $sketch)
returning shape_id

-- name: list_alike
-- One row per shape of $chain_id with one of the keys $bands (a JSON array), except $shape_id.
select code_shape.shape_id, code_shape.sketch
from code_shape
where code_shape.shape_id <> $shape_id and code_shape.shape_id in (
    select shape_band.shape_id
    from json_each($bands)
    cross join shape_band on shape_band.chain_id = $chain_id and shape_band.version = $version
        and shape_band.band = json_each.value
)

-- name: list_alike postgres
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

-- name: put_in_band
-- Puts the shape $shape_id under the key $band: at the next of the first $kept places or, once
-- those are taken, at one of as many more, replacing its shape.
insert into shape_band (chain_id, version, band, place, shape_id)
values (
    $chain_id, $version, $band,
    (
        select case when count(*) < $kept then count(*) else $kept + $shape_id % $kept end
        from shape_band
        where chain_id = $chain_id and version = $version and band = $band and place < $kept
    ),
    $shape_id
)
on conflict (chain_id, version, band, place) do update set shape_id = excluded.shape_id

-- name: put_token
-- Sets the shape $shape_id of the code of the token $token_id.
insert into token_shape (token_id, shape_id) values ($token_id, $shape_id)
on conflict (token_id) do update set shape_id = excluded.shape_id
where token_shape.shape_id <> excluded.shape_id
