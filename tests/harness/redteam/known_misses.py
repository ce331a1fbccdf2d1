"""Fixed traps that the service still gets wrong. Shrinks only."""

NOT_YET: frozenset[str] = frozenset()

LUCKY = frozenset({"FieldRandao", "FieldLuck", "FieldHashLuck", "SignerLuck"})
"""Conditions drawn for each block, which may be seen by chance."""
