-- One row per table of the store, by name.
select table_name from duckdb_tables() where not internal and not temporary order by table_name
