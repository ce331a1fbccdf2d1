"""Solver for the inputs at which branch conditions of trades change their outcome. Pure."""
