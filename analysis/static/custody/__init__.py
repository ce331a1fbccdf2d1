"""Proof of custody: who is asked before a balance falls or an allowance is set."""
