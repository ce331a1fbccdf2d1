-- Keys, their usage, and the networks that have had their trial. SQLite.

create table api_key (
    key_id integer primary key autoincrement,
    digest text not null unique,
    plan text not null,
    label text not null,
    created_at_s integer not null,
    expires_at_s integer,
    revoked_at_s integer
);

-- One row per used key: calls in total, on its last day and in its last month.
create table usage (
    key_id integer primary key references api_key (key_id),
    lifetime integer not null,
    day text not null,
    day_calls integer not null,
    month text not null,
    month_calls integer not null
);

-- One row per client network with a trial key.
create table trial (
    network text primary key,
    key_id integer not null references api_key (key_id),
    reason text not null,
    contact text,
    issued_at_s integer not null
);

-- Attempts to get one, by network and minute.
create table attempt (
    network text not null,
    minute integer not null,
    attempts integer not null,
    primary key (network, minute)
);
