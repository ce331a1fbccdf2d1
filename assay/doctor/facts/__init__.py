"""Checks of a chain's configured facts; one check, one file."""
