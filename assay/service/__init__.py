"""The running service: what it is composed of, and the tasks it keeps going."""
