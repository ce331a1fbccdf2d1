-- A place under the key $band for the shape $shape_id: the next of the first $kept, or, once those are
-- taken, one of as many more, in place of the shape that has it.
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
