"""Conditions of trades solved for the inputs at which they turn. Pure."""
