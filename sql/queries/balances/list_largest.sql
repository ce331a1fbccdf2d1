-- One row for each of the largest balances of the token $token_id that are listed.
select owner, value from largest where token_id = $token_id
