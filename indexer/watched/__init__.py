"""Observation of watched tokens in new blocks: logs, calls and trades."""
