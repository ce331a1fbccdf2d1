"""Bonding curves of launch platforms: one file a platform."""
