-- The configured quote tokens of each chain, for the value of trades in SQL.
create table quote_token (
    chain_id integer not null,
    address blob not null,
    symbol text not null,
    decimals integer not null,
    -- a dollar stable; else the wrapped native coin
    is_dollar integer not null,
    primary key (chain_id, address)
) without rowid;
