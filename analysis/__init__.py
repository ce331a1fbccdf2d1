"""Takes tokens apart: code, state, simulated trades, market -> one typed report."""
