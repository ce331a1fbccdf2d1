"""Checks of the abilities of one endpoint, by subject."""
