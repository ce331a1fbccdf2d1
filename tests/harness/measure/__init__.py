"""Measurement: load, cost of processes, and the conditions printed with each figure."""
