-- Lowest block of each chain that following may unwind: what lies below was final when following had
-- stored so much above it, or was not read by following.

create table window_floor (
    chain_id integer primary key,
    number integer not null
);
