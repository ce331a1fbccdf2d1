-- One row: the highest id of a token of any chain; 0 if there is none.
select coalesce(max(token_id), 0) from token
