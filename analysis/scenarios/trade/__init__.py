"""Simulated buys, sales, transfers and withdrawals, and the steps that they share."""
