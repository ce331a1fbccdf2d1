"""Who holds the liquidity of pools: LP tokens and positions, their holders, and locks."""
