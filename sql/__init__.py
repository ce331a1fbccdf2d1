"""Persistence: the DuckDB store, the SQLite ledger, their schemas, and one file per statement."""
