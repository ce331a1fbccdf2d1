-- Removes the code $code_hash.
delete from code where code_hash = $code_hash
