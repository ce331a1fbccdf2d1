"""Watches, their messages and events."""
