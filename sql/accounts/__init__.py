"""API keys, usage and the ledger of calls."""
