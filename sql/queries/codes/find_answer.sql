-- One row, or none: the stored result of the static analysis under $code_key.
select code_key, code_hash, version, size, found
from code_answer
where code_key = $code_key
