"""Simulated calls of ordinary accounts that may create balances."""
