"""Persistence: serving state, lake and ledger, their schemas, and one file per statement."""
