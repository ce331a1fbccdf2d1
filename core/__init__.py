"""Shared bottom layer: domain types, errors, ABI encoding, the report model and JSON-RPC."""
