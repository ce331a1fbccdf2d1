-- Work that one process of the fleet does at a time, by name: `follow:<chain id>`, `lake`. A row is
-- held while expires_at is ahead of the server's own clock, clock_timestamp(): clocks of the nodes
-- do not matter. The token rises by one whenever the holder changes and never falls, so rows stay
-- when they are given up. Whoever writes under a lease names its token, and is refused with an old
-- one however long it was paused.
-- holder: the process, as people find it; null: nobody. expires_at null: given up.
create table lease (
    name text collate "C" primary key,
    holder text collate "C",
    token bigint not null,
    expires_at timestamptz
);
