-- On-chain observations about watched tokens. The new analysis of such a token is a task `changed`.

-- One row: a number that grows with every change of the set of watched tokens, and with every report of
-- one of them, so that processes with them in memory read one number per block.
create table watch_revision (
    id integer primary key,
    revision integer not null
);
insert into watch_revision (id, revision) values (1, 0);

create trigger watch_token_added after insert on watch_token
begin
    update watch_revision set revision = revision + 1;
end;

create trigger watch_token_removed after delete on watch_token
begin
    update watch_revision set revision = revision + 1;
end;

create trigger watch_paused_or_resumed after update of is_paused on watch
begin
    update watch_revision set revision = revision + 1;
end;

create table observation (
    observation_id integer primary key autoincrement,
    chain_id integer not null,
    block_number integer not null,
    block_time_s integer not null,
    token_id integer not null,
    kind text not null,
    -- null: no single transaction is known
    tx_hash blob,
    sender blob,
    -- a function, an event, a storage slot, a pool: by kind
    what text not null,
    -- values, or a reason; null: there is none
    detail text
);
create index observation_by_token on observation (token_id, block_number);
create index observation_by_block on observation (chain_id, block_number);

-- Reserves of the pools of a watched token at the block of its report, as JSON: read once, because
-- nodes prune old state.
create table watched_reserves (
    token_id integer primary key,
    report_block integer not null,
    reserves text not null
);
