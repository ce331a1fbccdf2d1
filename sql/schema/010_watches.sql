-- Which tokens somebody wants to be told of.

create table watch (
    id integer primary key,
    is_paused integer not null
);

create table watch_token (
    watch_id integer not null references watch (id) on delete cascade,
    token_id integer not null,
    primary key (watch_id, token_id)
) without rowid;
create index watch_token_by_token on watch_token (token_id);
