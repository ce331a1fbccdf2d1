"""Back-ups of a store in PostgreSQL, and stores made of them."""
