-- NULL in the last two columns: the code was not followed far enough to tell every function that
-- writes balances or allowances.
create table report_static_anew as select * from report_static;

drop table report_static;

alter table report_static_anew rename to report_static;

-- Speed only, as in 007.
create index report_static_by_token on report_static (token_id);
