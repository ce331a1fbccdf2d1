"""Conditions under which trades fail or change, with their sources."""
