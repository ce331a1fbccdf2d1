"""Decoders: answers of nodes to columns of logs, and columns of logs to events of every kind."""
