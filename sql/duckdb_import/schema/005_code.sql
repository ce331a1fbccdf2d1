-- One row per distinct runtime code, and the static answers for it at each detector version.

create table code (
    code_hash varchar not null,
    size bigint not null
);

create table code_answer (
    code_hash varchar not null,
    version bigint not null,
    findings varchar not null
);
