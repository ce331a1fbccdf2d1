"""The pipeline of one token analysis: read rounds, simulations, and assembly of the report."""
