-- Deadlines are placed against the clock when a report is answered, not when it is written: kept
-- is what code compares with the clock, and what the status of a timebomb needs besides.

drop table report_deadline;

create table report_clock_limit (
    token_id integer not null,
    position integer not null,
    source varchar not null,
    slot varchar,
    value varchar,
    compared_with varchar
);

-- Speed only, as in 007.
create index report_clock_limit_by_token on report_clock_limit (token_id);

alter table report add column owner_slots_vacant boolean;
alter table report add column clock_block bigint;
alter table report add column clock_time_s bigint;
