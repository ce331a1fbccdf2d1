-- One term of one token.
insert or ignore into search_term (chain_id, tier, term, token_id) values (?, ?, ?, ?)
