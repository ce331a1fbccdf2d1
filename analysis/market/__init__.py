"""Pools of a token: discovery, reserves, value, price, routers."""
