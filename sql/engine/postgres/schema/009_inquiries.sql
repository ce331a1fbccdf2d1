-- The chains that processes of the fleet have a node for, with the role of the process: `follow` or
-- `analyse`. A process with a node renews its rows; an API process without one serves these chains.
create table fleet_chain (
    chain_id bigint not null,
    role text collate "C" not null,
    renewed_at timestamptz not null,
    -- Price of the native coin in USD, from the last analysis. Null: there was none.
    native_usd double precision,
    priced_at timestamptz,
    primary key (chain_id, role)
);

-- Requests of API processes without a node to those that analyse; a row is deleted when its caller has
-- the answer. Rows live for seconds, so a crash of the server loses nothing.
create unlogged table inquiry (
    inquiry bigint generated always as identity primary key,
    chain_id bigint not null,
    kind text collate "C" not null,
    -- JSON of the request, and of the answer or error.
    question bytea not null,
    answer bytea,
    -- End of the caller's wait.
    until timestamptz not null,
    -- The process that works on it, until expires_at unless it renews.
    holder text collate "C",
    expires_at timestamptz,
    -- Number of processes that ended while working on it.
    deaths bigint not null default 0
);
create index inquiry_open on inquiry (chain_id, inquiry) where answer is null;
create index inquiry_until on inquiry (until);
