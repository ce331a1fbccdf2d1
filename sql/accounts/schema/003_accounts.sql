-- Signed-in people, their sessions and their keys. SQLite.

create table account (
    account_id integer primary key autoincrement,
    issuer text not null,
    subject text not null,
    created_at_s integer not null,
    unique (issuer, subject)
);

-- One row per signed-in browser. The token is in its cookie, its SHA-256 here.
create table session (
    digest text primary key,
    account_id integer not null references account (account_id),
    shown_as text not null,
    expires_at_s integer not null
) without rowid;

create index session_account on session (account_id);

-- One row per key that a person created. A key of the command line has none.
create table account_key (
    key_id integer primary key references api_key (key_id),
    account_id integer not null references account (account_id),
    prefix text not null
);

create index account_key_account on account_key (account_id);
