"""Liquidity holders of pools: LP tokens and positions, their holders, and locks."""
