-- One row: the highest id of a token of any chain, whichever is asked about: one that is added later
-- has a higher id. 0 if there is none.
select coalesce(max(token_id), 0) from token
