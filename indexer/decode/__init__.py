"""One decoder a venue family: log columns in, pool columns out."""
