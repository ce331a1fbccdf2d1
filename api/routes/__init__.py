"""Route handlers, one resource per file."""
