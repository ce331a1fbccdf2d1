"""The lake of a fleet: its catalogue in PostgreSQL."""
