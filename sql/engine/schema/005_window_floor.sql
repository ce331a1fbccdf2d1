-- Lowest block of each chain that the follower may unwind: lower blocks were final when it stored the
-- blocks above them, or it did not read them.

create table window_floor (
    chain_id integer primary key,
    number integer not null
);
