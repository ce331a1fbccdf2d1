"""Comparison of stored predictions with the trades and transfers of new blocks."""
