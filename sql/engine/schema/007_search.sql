-- Names of analysed tokens for searches: the skeletons of their symbols and of their names from each
-- word on, by chain and by the liquidity of their pools.

create table search_entry (
    token_id integer primary key,
    chain_id integer not null,
    -- USD of the sides of its pools that are not the token
    usd real not null,
    -- digits of that before the point: the tokens of a search come tier by tier
    tier integer not null,
    -- its terms in `search_term`, joined by line ends
    terms text not null
);
create index search_entry_by_usd on search_entry (usd);

create table search_term (
    chain_id integer not null,
    tier integer not null,
    term text not null,
    token_id integer not null,
    primary key (chain_id, tier, term, token_id)
) without rowid;

-- Reports stored before this migration are entered in steps, up to the newest token at this moment.
insert into import_progress (step, done)
select 'search_until', coalesce(max(token_id), 0) from report;
