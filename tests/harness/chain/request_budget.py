"""Bounds of the requests that one analysis sends to its node."""

MOST_TRIPS = 3
MOST_CALLS = 81
