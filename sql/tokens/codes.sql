-- name: delete_other_versions
-- Deletes some results of the static analysis of other versions than $version.
delete from code_answer
where code_key in (
    select code_key from code_answer
    where version < $version or version > $version
    limit $at_most
)

-- name: find_answer
-- One row, or none: the stored result of the static analysis under $code_key.
select code_key, code_hash, version, size, found
from code_answer
where code_key = $code_key
