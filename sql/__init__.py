"""The persistence layer: the DuckDB store, the SQLite ledger, their schemas, and one file per SQL
statement."""
