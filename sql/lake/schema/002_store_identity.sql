-- The id of the lake's store; no row: it has not been opened with a serving state yet.

create table if not exists lake.store_identity (store_id varchar not null);
