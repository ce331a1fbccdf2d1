-- The chains that processes of the fleet have a node for, and what they do with it: `follow` or
-- `analyse`. Whoever has the node renews its rows; an API process without a node serves the chains
-- that stand here.
create table fleet_chain (
    chain_id bigint not null,
    role text collate "C" not null,
    renewed_at timestamptz not null,
    -- US dollars of the native coin, as an analysis last read it. Null: none has.
    native_usd double precision,
    priced_at timestamptz,
    primary key (chain_id, role)
);

-- Questions of API processes without a node that take one, for those that analyse: a row goes when
-- its asker has the answer. They live for seconds, so nothing is lost with a crash of the server.
create unlogged table inquiry (
    inquiry bigint generated always as identity primary key,
    chain_id bigint not null,
    kind text collate "C" not null,
    -- JSON of the question, and of the answer or why there is none.
    question bytea not null,
    answer bytea,
    -- How long its asker waits.
    until timestamptz not null,
    -- The process that works on it, until expires_at unless it says that it is still there.
    holder text collate "C",
    expires_at timestamptz,
    -- How many processes have ended while they worked on it.
    deaths bigint not null default 0
);
create index inquiry_open on inquiry (chain_id, inquiry) where answer is null;
create index inquiry_until on inquiry (until);
