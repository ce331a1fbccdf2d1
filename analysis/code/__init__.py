"""Static analysis of runtime code. Pure: no node, no store."""
