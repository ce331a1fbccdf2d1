-- Keys of operators: they manage the jobs of the service. SQLite.

alter table api_key add column is_operator integer not null default 0;
