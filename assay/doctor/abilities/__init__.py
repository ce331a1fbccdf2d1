"""Checks of what one endpoint can do; one check, one file."""
