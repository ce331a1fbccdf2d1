"""What the service still gets wrong of the fixed traps. Shrinks only."""

NOT_YET: frozenset[str] = frozenset()

LUCKY = frozenset({"FieldRandao", "FieldLuck", "FieldHashLuck", "SignerLuck"})
"""Conditions drawn anew with each block: what is not yet seen may be seen by chance."""
