"""Takes the DuckDB file of a release up to 0.4 over into the serving state and the lake."""
