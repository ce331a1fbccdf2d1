"""Simulated scenarios, one question per file: what buys, sales, transfers and thefts would do."""
