"""Calldata and events of swaps, and the routers that make them."""
