"""Event decoders: log columns in, columns of pools, launches, trades or transfers out."""
