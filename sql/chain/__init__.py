"""Followed chains: blocks, pools, transfers, trades, launches and their finalization."""
