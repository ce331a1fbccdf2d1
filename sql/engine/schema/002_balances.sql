-- Exact balances from all final transfers: incoming minus outgoing amounts, so they may be negative.

create table balance (
    -- token_id as four big-endian bytes, then the owner's twenty
    key blob primary key,
    value blob not null
) without rowid;

create table token_balance (
    token_id integer primary key,
    -- rows of the token in `balance`
    owners integer not null,
    -- owners with a negative balance, except the zero address
    overdrawn integer not null,
    -- sum of the positive balances, except the zero address's
    held blob not null,
    -- the last of `largest` when it was made: its owner, then its balance. By balance, then by owner,
    -- all that are not in `largest` come after it. Null: it is not kept, the token has few owners
    bound blob
);

create table largest (
    token_id integer not null,
    owner blob not null,
    value blob not null,
    primary key (token_id, owner)
) without rowid;

-- Progress of adding the ranges that back-fills wrote to the lake to `balance`: all before this one,
-- and its balances up to a key; null: all of it.
create table bulk_folded (
    one integer primary key check (one = 1),
    batch integer not null,
    after_key blob
);
