"""Simulations on request: exit quotes, liquidity, hooks, and checks of unsigned trades."""
