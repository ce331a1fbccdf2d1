"""Watches as callers see them, whichever way they ask."""
