"""Decoders: bytes of answers to columns of logs, and those to events of every kind."""
