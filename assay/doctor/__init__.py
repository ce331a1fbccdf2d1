"""Checks of a chain's nodes and of the configured facts, against the chain itself; read-only."""
