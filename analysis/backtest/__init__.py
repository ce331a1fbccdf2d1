"""Verdicts of the past, scored by what then happened to those who bought."""
