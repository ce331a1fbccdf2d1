-- One row, or none: what was found in the code and at the version that $code_key stands for. Of two
-- codes that share a key, which 64 bits make unlikely, both, in any order: sorted, or with a limit,
-- it would be a scan.
select code_key, code_hash, version, size, found
from code_answer
where code_key = $code_key
