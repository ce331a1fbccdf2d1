-- Powers over a token, by the newest report.

create table report_power (
    token_id integer not null,
    ordinal integer not null,
    check_key text not null,
    what text not null,
    holder_kind text not null,
    -- null: no single account is named
    holder blob,
    bound text not null,
    detail text,
    -- selectors, joined by spaces
    functions text not null,
    is_harmless integer not null,
    is_bound integer not null,
    primary key (token_id, ordinal)
) without rowid;
