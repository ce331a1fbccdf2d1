-- As sql/engine/schema/021_powers.sql, whose comments describe the table.

create table report_power (
    token_id bigint not null,
    ordinal bigint not null,
    check_key text collate "C" not null,
    what text collate "C" not null,
    holder_kind text collate "C" not null,
    holder bytea,
    bound text collate "C" not null,
    detail text collate "C",
    functions text collate "C" not null,
    is_harmless bigint not null,
    is_bound bigint not null,
    primary key (token_id, ordinal)
);
