"""Move of a store in files to PostgreSQL."""
