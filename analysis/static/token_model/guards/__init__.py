"""Guards of a token's functions: access control, pauses and lists."""
