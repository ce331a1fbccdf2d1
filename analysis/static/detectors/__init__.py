"""One question about what code can do, one file; the registry lists them all."""
