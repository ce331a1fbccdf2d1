"""Shape of a code: what stays the same when constants, names and order change."""
