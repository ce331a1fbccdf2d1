"""Store engine: connections, statements, schema and files of the serving state."""
