"""Services outside the chain: market data and verified sources. A failure of theirs is a miss."""
