"""Back-ups of a store in PostgreSQL, and restoring from them."""
