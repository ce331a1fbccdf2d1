-- One row: of SQLite's one writer at a time, which needs no turn.
select 1 as taken
