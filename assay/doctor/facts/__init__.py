"""Checks of a chain's configured facts, by subject."""
