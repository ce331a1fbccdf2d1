-- The id of the store whose lake this is; no row: it has not been opened beside a serving state yet.

create table if not exists lake.store_identity (store_id varchar not null);
