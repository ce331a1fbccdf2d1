-- Bodies as zstd of the JSON text: that of a token with 30,000 pools is 15 MB, and read in a sixth
-- of the time that its tables took. The former ones are not carried over: the tables hold the same,
-- and every report is written anew in time. From now on report_pool holds the 1,000 deepest pools
-- of a report, the body all.

drop table report_body;

create table report_body (
    token_id integer not null,
    body blob not null
);

-- Speed only, as in 007.
create index report_body_by_token on report_body (token_id);
