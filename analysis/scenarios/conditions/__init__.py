"""Simulated trades with the conditions of the code turned."""
