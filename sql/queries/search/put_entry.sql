-- Enters the token $token_id for searches, in place of how it was entered before.
insert or replace into search_entry (token_id, chain_id, usd, tier, terms)
values ($token_id, $chain_id, $usd, $tier, $terms)
