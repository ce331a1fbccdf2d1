-- Removes every version's static answers for the code $code_hash.
delete from code_answer where code_hash = $code_hash
