"""Serves reports: auth, limits, shapes, cache."""
