"""Analyses over several processes: who judges a token, and how the others get the answer."""
