"""Tokens: tracked set, tasks, search entries, codes, creators and kin."""
