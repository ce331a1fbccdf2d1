-- Removes what is kept under $code_key.
delete from code_answer where code_key = $code_key
