-- The shape $shape_id of the code of the token $token_id, in place of the one it had.
insert into token_shape (token_id, shape_id) values ($token_id, $shape_id)
on conflict (token_id) do update set shape_id = excluded.shape_id
where token_shape.shape_id <> excluded.shape_id
