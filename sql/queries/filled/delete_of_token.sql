-- Removes what back-fills have stored of the token $token_id, as far as it is known.
delete from filled_span where token_id = $token_id
