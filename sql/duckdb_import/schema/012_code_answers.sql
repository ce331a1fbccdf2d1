-- What the static analysis found in one code, whole: not its answers alone, but all that the rest of
-- an analysis asks of a code. Looked up by one integer, which is made of code and version.

drop table code_answer;
drop table code;

create table code_answer (
    code_key bigint not null,
    code_hash varchar not null,
    version varchar not null,
    size bigint not null,
    found varchar not null
);

-- Speed only, as in 007.
create index code_answer_by_key on code_answer (code_key);
