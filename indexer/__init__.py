"""Follows chains: node -> decoded rows -> store."""
