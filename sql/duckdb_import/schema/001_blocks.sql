-- Blocks that may still be reorganised away, and how far each stream has come.
-- Names, types and order of the columns are those of the structs in sql/rows.py; a table narrows a
-- type only where sql/columns.py says so.

create table block (
    chain_id integer not null,
    number bigint not null,
    hash varchar not null,
    parent_hash varchar not null,
    time_s bigint not null
);

create table checkpoint (
    chain_id integer not null,
    stream varchar not null,
    number bigint not null,
    hash varchar
);

create table coverage (
    chain_id integer not null,
    subject varchar not null,
    from_block bigint not null,
    to_block bigint not null
);
