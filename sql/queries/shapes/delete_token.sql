-- The shape of the code of the token $token_id is not known any more.
delete from token_shape where token_id = $token_id
