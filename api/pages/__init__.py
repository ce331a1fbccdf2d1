"""HTML pages, rendered on the server, that load nothing from other hosts."""
