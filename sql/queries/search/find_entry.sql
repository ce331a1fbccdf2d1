-- One row, or none: how the token $token_id is entered for searches.
select chain_id, usd, tier, terms from search_entry where token_id = $token_id
