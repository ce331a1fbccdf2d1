"""Quotes on demand: what leaving brings at a size, and what one trade does before it is signed."""
