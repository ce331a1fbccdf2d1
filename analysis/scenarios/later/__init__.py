"""Simulated sales by a crowd of buyers and by today's holders."""
