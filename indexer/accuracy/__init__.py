"""Predictions of stored reports, held against the trades and transfers of new blocks."""
