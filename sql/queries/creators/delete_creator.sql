-- Removes what was found out about who made the token $token on $chain_id.
delete from creator where token = $token and chain_id = $chain_id
