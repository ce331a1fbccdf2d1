"""Data flow over the CFG: what values depend on, the storage layout, writes, compiler checks."""
