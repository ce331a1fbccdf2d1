-- One row, or none: the shape of the code of the token $token_id, if it is of $version.
select code_shape.shape_id, code_shape.digest, code_shape.sketch
from token_shape
join code_shape on code_shape.shape_id = token_shape.shape_id
where token_shape.token_id = $token_id and code_shape.version = $version
