"""Event decoders, one per venue family: log columns in, columns of pools, trades or transfers out."""
