-- Enters the token $token_id for searches, in place of how it was entered before.
insert into search_entry (token_id, chain_id, usd, tier, terms)
values ($token_id, $chain_id, $usd, $tier, $terms)
on conflict (token_id) do update set
    chain_id = excluded.chain_id,
    usd = excluded.usd,
    tier = excluded.tier,
    terms = excluded.terms
