-- Counts by calendar period, so that a clock set back or forward loses none of them, and a revision
-- that shows other processes a changed key. SQLite.

alter table usage rename to last_usage;

-- Calls of a key in one period: 'all', a month like 2026-11, or a day like 2026-11-30, UTC.
create table usage (
    key_id integer not null references api_key (key_id),
    period text not null,
    calls integer not null,
    primary key (key_id, period)
) without rowid;

insert into usage (key_id, period, calls)
select key_id, 'all', lifetime from last_usage
union all
select key_id, day, day_calls from last_usage
union all
select key_id, month, month_calls from last_usage;

drop table last_usage;

-- One row, which grows with every change of an existing key.
create table key_revision (revision integer not null);

insert into key_revision (revision) values (0);

create trigger api_key_changed after update on api_key
begin
    update key_revision set revision = revision + 1;
end;
