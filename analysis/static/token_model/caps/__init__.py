"""Caps on trades and holdings."""
