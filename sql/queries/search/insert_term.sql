-- One term of one token.
insert into search_term (chain_id, tier, term, token_id) values (?, ?, ?, ?)
on conflict do nothing
