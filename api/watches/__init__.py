"""Watches as callers see them, by HTTP, event stream, MCP and page."""
