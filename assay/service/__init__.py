"""The running service: its parts, roles and background tasks."""
