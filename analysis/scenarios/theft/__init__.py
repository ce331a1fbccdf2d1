"""Simulated attempts to take the tokens of another account."""
