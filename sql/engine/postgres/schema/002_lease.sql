-- Work that one process of the fleet does at a time, by name: `follow:<chain id>`, `lake`. A row is
-- held while expires_at is ahead of the server's clock, clock_timestamp(): clocks of other machines
-- do not matter. The token rises by one whenever the holder changes and never falls, so released rows
-- stay. Writes under a lease name its token, and are rejected with an old one, however long the
-- writer was paused.
-- holder: the process, identifiable by people; null: none. expires_at null: released.
create table lease (
    name text collate "C" primary key,
    holder text collate "C",
    token bigint not null,
    expires_at timestamptz
);
