"""The tables: DuckDB store, SQLite ledger, their schema and every statement, one a file."""
