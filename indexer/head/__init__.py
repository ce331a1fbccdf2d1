"""Following of a chain: new heads, blocks near the head, and reorgs."""
